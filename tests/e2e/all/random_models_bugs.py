#!/usr/bin/env python3
"""Plants the bugs of random_models_bugs.txt, one at a time, and asks random models to find them.

The changed file is compiled with what is compiled together with it, the engine is linked anew from
the objects of build/release into a folder of its own, and `ge-test --random-models` runs on that
engine and ref until a model differs. The bug is found when one does and is shrunk to at most five
nodes. Nothing in the tree or in build/release is written.

A minute or less for each bug on two cores.

Examples:
  tests/e2e/all/random_models_bugs.py
  tests/e2e/all/random_models_bugs.py --only lstm -v
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from mutate import BUILD, ROOT, Mutant, commands, plugin_folder  # noqa: E402

TABLE = pathlib.Path(__file__).with_name("random_models_bugs.txt")
MOST_MODELS, AT_ONCE = 2000, 100
MOST_NODES = 5
RUN_SECONDS = 600  # of AT_ONCE models


class Bug:
    def __init__(self, number, engine, path, old, new):
        self.engine, self.path = engine, ROOT / path
        fits = [i for i, line in enumerate(self.path.read_text().split("\n")) if old in line]
        if len(fits) != 1:
            sys.exit(f"{TABLE.name}:{number}: '{old}' occurs in {len(fits)} lines of {path}, "
                     "wanted 1")
        line = self.path.read_text().split("\n")[fits[0]]
        self.mutant = Mutant(self.path, line, line.replace(old, new, 1), fits[0])

    def __str__(self):
        return str(self.mutant)


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
    source.write_text(bug.mutant.text())
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


def search(bug, plugins):
    """(number of the first model that differs, nodes that it was shrunk to); None = not found."""
    env = dict(os.environ, GE_PLUGIN_PATH=str(plugins), GE_CACHE_DIR="off", GE_PROBE="fixed")
    for first in range(0, MOST_MODELS, AT_ONCE):
        done = subprocess.run(
            [str(BUILD / "bin" / "ge-test"), "--random-models", str(AT_ONCE), "--first", str(first),
             "--engines", f"{bug.engine},ref"], cwd=ROOT, env=env, capture_output=True, text=True,
            timeout=RUN_SECONDS)
        model = re.search(r"^FAILED  model (\d+)", done.stdout, re.M)
        if not model:
            continue
        nodes = [int(n) for n in re.findall(r"^shrunk to (\d+) nodes", done.stdout, re.M)]
        return int(model[1]), min(nodes, default=None), done.stdout
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="bugs of this file's stem; repeatable")
    parser.add_argument("-v", action="store_true", help="print what ge-test says of each bug")
    args = parser.parse_args()
    if not (BUILD / "bin" / "ge-test").exists():
        sys.exit("random_models_bugs: build/release/bin/ge-test is missing; ./test builds it")
    passed = failed = skipped = 0
    for bug in read_bugs():
        if args.only and bug.path.stem not in args.only:
            continue
        if not (BUILD / "lib" / "graphengine" / f"{bug.engine}.so").exists():
            skipped += 1
            print(f"skipped {bug}: {bug.engine} is not built")
            continue
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="bug-", dir=BUILD.parent) as name:
            folder = pathlib.Path(name)
            found = search(bug, build(bug, folder))
        seconds = f"{time.monotonic() - begin:.0f} s"
        if found is None:
            failed += 1
            print(f"FAILED  {bug}: {MOST_MODELS} models found nothing, {seconds}", flush=True)
            continue
        model, nodes, text = found
        good = nodes is not None and nodes <= MOST_NODES
        passed, failed = passed + good, failed + (not good)
        print(f"{'found' if good else 'FAILED'}  {bug}: model {model}, shrunk to {nodes} nodes, "
              f"{seconds}", flush=True)
        if args.v or not good:
            print(text[-6000:])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
