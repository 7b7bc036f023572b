#!/usr/bin/env python3
"""Plants the bugs of random_models_bugs.txt, one at a time, and asks random models to find them.

The changed file is compiled with what is compiled together with it, the engine is linked anew from
the objects of build/release into a folder of its own, and `ge-test --random-models` runs on that
engine and ref until a model differs. The bug is found when one does, is shrunk to at most five nodes,
and does not differ without the bug: a tool that fails of itself finds nothing. A run that takes ten
times what models take without a bug is a verdict of its own, and no find. Nothing in the tree or in
build/release is written.

A minute or less for each bug on two cores.

Examples:
  tests/e2e/all/code/random_models_bugs.py
  tests/e2e/all/code/random_models_bugs.py --only recurrence
  tests/e2e/all/code/random_models_bugs.py --check   # only whether each line to change is where it should be
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
BUILD = ROOT / "build" / "release"
TABLE = pathlib.Path(__file__).with_name("random_models_bugs.txt")
MOST_MODELS, AT_ONCE = 2000, 100
MOST_NODES = 5
# A batch of models may take this many times what it takes without a bug, and at least so long: what
# differs is shrunk, too.
TIMES, LEAST_SECONDS = 10, 300


class Bug:
    def __init__(self, number, engine, path, old, new):
        self.engine, self.path = engine, ROOT / path
        if not self.path.exists():
            sys.exit(f"{TABLE.name}:{number}: {path} does not exist")
        lines = self.path.read_text().split("\n")
        fits = [i for i, line in enumerate(lines) if old in line]
        if len(fits) != 1:
            sys.exit(f"{TABLE.name}:{number}: '{old}' occurs in {len(fits)} lines of {path}, "
                     "wanted 1")
        self.old = lines[fits[0]]
        self.new = self.old.replace(old, new, 1)
        self.where = f"{path}:{fits[0] + 1}"
        lines[fits[0]] = self.new
        self.text = "\n".join(lines)

    def __str__(self):
        return f"{self.where}: '{self.old.strip()}' -> '{self.new.strip()}'"


def read_bugs():
    bugs = []
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip().replace("\\|", "|") for part in line.split(" | ")]
        if len(parts) != 4:
            sys.exit(f"{TABLE.name}:{number}: found {len(parts)} parts, wanted ENGINE | PATH | OLD "
                     "| NEW")
        bugs.append(Bug(number, *parts))
    return bugs


def commands(target):
    """What build/release runs to make `target`, the linker last."""
    out = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", target], check=True,
                         capture_output=True, text=True).stdout
    return [line for line in out.splitlines() if line.startswith((":", "/", "env "))]


def plugin_folder(folder, but):
    """A folder with the engines of build/release, linked, but one; as there it lies in the folder of
    the libraries that engines need."""
    plugins = folder / "lib" / "plugins"
    plugins.mkdir(parents=True)
    for library in (BUILD / "lib").glob("*.so"):
        os.link(library.resolve(), plugins.parent / library.name)
    for engine in (BUILD / "lib" / "graphengine").glob("*.so"):
        if engine.name != but:
            os.link(engine, plugins / engine.name)
    return plugins


def compile_line(lines, path):
    """(words of the command that compiles `path`, the file that it compiles)."""
    for line in lines:
        words = shlex.split(line.split(" && ")[0].lstrip(": "))
        if "-c" not in words:
            continue
        source = words[words.index("-c") + 1]
        together = "/Unity/" in source and f'"{path}"' in pathlib.Path(source).read_text()
        if source == str(path) or together:
            return words[next(i for i, w in enumerate(words) if w.endswith("c++")):], source
    sys.exit(f"{path.relative_to(ROOT)}: no command of build/release compiles it")


def build(bug, folder):
    """The folder of engines with the bug in one of them."""
    lines = commands(bug.engine)
    words, whole = compile_line(lines, bug.path)
    original = words[words.index("-o") + 1]
    source = folder / bug.path.name
    source.write_text(bug.text)
    if whole != str(bug.path):
        text = pathlib.Path(whole).read_text().replace(f'"{bug.path}"', f'"{source}"')
        source = folder / "whole.cc"
        source.write_text(text)
    words[words.index("-c") + 1] = str(source)
    words[words.index("-o") + 1] = str(folder / "bug.o")
    if "-MF" in words:
        words[words.index("-MF") + 1] = str(folder / "bug.d")
    subprocess.run(words + [f"-I{bug.path.parent}", "-w"], cwd=BUILD, check=True)
    plugins = plugin_folder(folder, but=f"{bug.engine}.so")
    link = lines[-1].replace(original, str(folder / "bug.o"))
    link = re.sub(r" -o \S+", f" -o {plugins / (bug.engine + '.so')}", link, count=1)
    subprocess.run(link, shell=True, cwd=BUILD, check=True, capture_output=True)
    return plugins


def models(engine, plugins, first, count, limit):
    """What ge-test says of models [first, first + count) on an engine of `plugins` and ref: (exit code, text).
    None for the code when it took longer than `limit` seconds."""
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    env.update(GE_PLUGIN_PATH=str(plugins), GE_CACHE_DIR="off", GE_PROBE="fixed")
    try:
        done = subprocess.run(
            [str(BUILD / "bin" / "ge-test"), "--random-models", str(count), "--first", str(first),
             "--engines", f"{engine},ref"], cwd=ROOT, env=env, capture_output=True, text=True,
            timeout=limit)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


class Baselines:
    """Engines as they were built: the seconds that AT_ONCE models take on each, all of them clean."""

    def __init__(self):
        self.seconds, self.plugins = {}, BUILD / "lib" / "graphengine"

    def limit(self, engine):
        if engine not in self.seconds:
            begin = time.monotonic()
            code, text = models(engine, self.plugins, 0, AT_ONCE, 3600)
            if code != 0:
                sys.exit(f"random_models_bugs: models differ on {engine} without a bug; repair that "
                         f"first\n{text[-2000:]}")
            self.seconds[engine] = time.monotonic() - begin
        return max(LEAST_SECONDS, TIMES * self.seconds[engine])

    def differs(self, engine, model):
        return models(engine, self.plugins, model, 1, self.limit(engine))[0] != 0


def search(bug, plugins, baselines):
    """(verdict, words): "found", or why not."""
    for first in range(0, MOST_MODELS, AT_ONCE):
        limit = baselines.limit(bug.engine)
        code, text = models(bug.engine, plugins, first, AT_ONCE, limit)
        if code is None:
            return "TIMED OUT", f"models from {first} took longer than {limit:.0f} s"
        model = re.search(r"^FAILED  model (\d+)", text, re.M)
        if code == 0 and not model:
            continue
        if not model:
            return "FAILED", f"models from {first}: exit code {code} and no model that differs\n{text[-6000:]}"
        if baselines.differs(bug.engine, int(model[1])):
            return "FAILED", f"model {model[1]} differs without the bug, too"
        nodes = min((int(n) for n in re.findall(r"^shrunk to (\d+) nodes", text, re.M)), default=None)
        words = f"model {model[1]}, shrunk to {nodes} nodes"
        if nodes is None or nodes > MOST_NODES:
            return "FAILED", f"{words}\n{text[-6000:]}"
        return "found", words
    return "FAILED", f"{MOST_MODELS} models found nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="bugs of this file's stem; repeatable")
    parser.add_argument("--check", action="store_true", help="read the table, and plant nothing")
    args = parser.parse_args()
    if args.check:
        print(f"{len(read_bugs())} passed, 0 failed, 0 skipped")
        return 0
    if not (BUILD / "bin" / "ge-test").exists():
        sys.exit("random_models_bugs: build/release/bin/ge-test is missing; ./test builds it")
    passed, failed, skipped, baselines = 0, 0, 0, Baselines()
    for bug in read_bugs():
        if args.only and bug.path.stem not in args.only:
            continue
        if not (BUILD / "lib" / "graphengine" / f"{bug.engine}.so").exists():
            skipped += 1
            print(f"skipped {bug}: {bug.engine} is not built")
            continue
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="bug-", dir=BUILD.parent) as name:
            verdict, words = search(bug, build(bug, pathlib.Path(name)), baselines)
        passed, failed = passed + (verdict == "found"), failed + (verdict != "found")
        print(f"{verdict:9} {bug}: {time.monotonic() - begin:.0f} s, {words}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
