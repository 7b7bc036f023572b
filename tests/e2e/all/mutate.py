#!/usr/bin/env python3
"""Mutation check: changes one place of a kernel or an infer rule and asks whether a test notices.

For each file of plugins/ref/kernels and ge/ops/onnx one change is made (a + becomes a -, a < a <=,
a set of element types another one). The changed file is compiled, with those that are compiled
together with it; ref.so or ge-test is linked anew from the objects of build/release; and ONNX's node
tests and the random cases of that operator, the text cases and (for infer rules) the unit tests are
run on it. A change that nothing notices is a failure. Nothing in the tree or in build/release is
written. The changes are fixed: by the rules below, or by tests/e2e/all/mutations.txt where a rule
would pick a change without effect.

Some seconds for each of about 400 files on two cores.

Examples:
  tests/e2e/all/mutate.py
  tests/e2e/all/mutate.py --only conv --only slice -v
  tests/e2e/all/mutate.py --list
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build" / "release"
KERNELS = ROOT / "plugins" / "ref" / "kernels"
RULES = ROOT / "ge" / "ops" / "onnx"
TABLE = pathlib.Path(__file__).with_name("mutations.txt")
TEST_SECONDS = 60  # a mutant that hangs is noticed

# Tried in this order; the first rule that fits gives the change, in the middle one of its lines.
REWRITES = [
    (r"std::max(?=[<(])", "std::min"), (r"std::min(?=[<(])", "std::max"),
    (r"std::floor\(", "std::ceil("), (r"std::exp\(", "std::expm1("), (r"std::sin\(", "std::cos("),
    (r"std::tanh\(", "std::atan("), (r"std::sqrt\(", "std::cbrt("), (r"std::erf\(", "std::erfc("),
    (r"(?<=[\w)\]]) \* (?=[\w(])", " + "), (r"(?<=[\w)\]]) / (?=[\w(])", " * "),
    (r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), (r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    (r" \+= ", " -= "), (r"\.Add\(a, b\)", ".Sub(a, b)"), (r"\.Sub\(a, b\)", ".Add(a, b)"),
    (r"\.Mul\(a, b\)", ".Add(a, b)"),
    (r" > ", " >= "), (r" < (?!.*\+\+)", " <= "), (r" == ", " != "), (r" != ", " == "),
    (r"\bkNumeric\b", "kInts"), (r"\bkFloats\b", "kInts"), (r"\bkClassic\b", "kInts"),
    (r"\bkAnyDType\b", "kInts"), (r"\btrue\b", "false"),
]
# Refusals, limits and hints to the host: a change there need not change a number.
PASSED_OVER = re.compile(
    r"why|Say\(|Fail\(|Bad\(|Status\(|fmt::|to_string|#include|^\s*//|static_assert|kMax|workspace|"
    r"reserve|const_align|in_place|static constexpr|PerOutput|template|return nullptr|assert|"
    r"ElementsOf|BytesOf")


class Mutant:
    def __init__(self, path, old, new, line):
        self.path, self.old, self.new, self.line = path, old, new, line
        self.is_kernel = path.parent == KERNELS
        self.stem = path.stem

    def text(self):
        lines = self.path.read_text().split("\n")
        lines[self.line] = self.new
        return "\n".join(lines)

    def __str__(self):
        where = self.path.relative_to(ROOT)
        return f"{where}:{self.line + 1}: '{self.old.strip()}' -> '{self.new.strip()}'"


def read_table():
    """{path: (old, new)} of mutations.txt: PATH | OLD | NEW, where OLD occurs in one line."""
    table = {}
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip().replace("\\|", "|") for part in line.split(" | ")]
        if len(parts) != 3:
            sys.exit(f"{TABLE}:{number}: wanted PATH | OLD | NEW")
        table[parts[0]] = (parts[1], parts[2])
    return table


def candidates(path):
    """Changes of a file in order of preference."""
    lines = path.read_text().split("\n")
    for pattern, replacement in REWRITES:
        fits = [i for i, line in enumerate(lines)
                if re.search(pattern, line) and not PASSED_OVER.search(line)]
        order = fits[len(fits) // 2:] + fits[:len(fits) // 2]
        for i in order:
            yield Mutant(path, lines[i], re.sub(pattern, replacement, lines[i], count=1), i)


def chosen(path, table):
    name = str(path.relative_to(ROOT))
    if name not in table:
        return list(candidates(path))[:6]
    old, new = table[name]
    fits = [i for i, line in enumerate(path.read_text().split("\n")) if old in line]
    if len(fits) != 1:
        sys.exit(f"{TABLE.name}: '{old}' occurs in {len(fits)} lines of {name}, wanted 1")
    line = path.read_text().split("\n")[fits[0]]
    return [Mutant(path, line, line.replace(old, new, 1), fits[0])]


def commands(target):
    out = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", target], check=True,
                         capture_output=True, text=True).stdout
    return [line for line in out.splitlines() if line.startswith((":", "/", "env "))]


class Builder:
    """The commands of build/release, to be repeated with one file exchanged."""

    def __init__(self):
        ref, test = commands("ref"), commands("ge-test")
        self.link = {True: ref[-1], False: test[-1]}
        self.compile, self.among = {}, {}
        for line in ref + test:
            words = shlex.split(line.split(" && ")[0].lstrip(": "))
            if "-c" not in words:
                continue
            source = words[words.index("-c") + 1]
            self.compile[source] = words[next(i for i, w in enumerate(words) if w.endswith("c++")):]
            if "/Unity/" in source:  # several files at once
                for name in re.findall(r'^#include "(.*)"', pathlib.Path(source).read_text(), re.M):
                    self.among[name] = source
        self.unit = commands("ge-unit")[-1] if (BUILD / "bin" / "ge-unit").exists() else None

    def source_of(self, path):
        return self.among.get(str(path), str(path))

    def object_of(self, path):
        words = self.compile[self.source_of(path)]
        return words[words.index("-o") + 1]

    def compiles(self, mutant, folder):
        whole = self.source_of(mutant.path)
        words = list(self.compile[whole])
        source = folder / mutant.path.name
        source.write_text(mutant.text())
        if whole != str(mutant.path):
            text = pathlib.Path(whole).read_text()
            whole = folder / "whole.cc"
            whole.write_text(text.replace(f'"{mutant.path}"', f'"{source}"'))
            source = whole
        words[words.index("-c") + 1] = str(source)
        words[words.index("-o") + 1] = str(folder / "mutant.o")
        words[words.index("-MF") + 1] = str(folder / "mutant.d")
        words = ["-O1" if w == "-O2" else w for w in words] + [f"-I{mutant.path.parent}", "-w"]
        return subprocess.run(words, cwd=BUILD, capture_output=True).returncode == 0

    def run_link(self, line, folder, output, mutant):
        if mutant.is_kernel:
            line = line.replace(self.object_of(mutant.path), str(folder / "mutant.o"))
        else:  # stands before the archive, so that the archive's own one is not taken
            line = line.replace(" libge_core.a", f" {folder}/mutant.o libge_core.a", 1)
        line = re.sub(r" -o \S+", f" -o {output}", line, count=1)
        subprocess.run(line, shell=True, cwd=BUILD, check=True, capture_output=True)


def operator_name(path):
    """'Conv' of conv.cc: the first word in quotes that, in lower case, is the file's name; of other
    domains 'ai.onnx.ml.Scaler' of onnx_ml_scaler.cc."""
    wanted = path.stem.replace("_", "")
    for word in re.findall(r'"((?:[a-z]+\.)*[A-Z]\w*)"', path.read_text()):
        found = word.replace(".", "").lower()
        if found == wanted or ("." in word and found.endswith(wanted)):
            return word
    sys.exit(f"{path}: names no operator that its file is called after")


def noticed_by(program, plugins, op, unit):
    """The first step that fails, or None."""
    node = BUILD.parent / "node-tests" / "node"
    steps = [
        ("node tests", [program, "--onnx-node", node, "--op", op.rsplit(".")[-1]]),
        ("random cases", [program, "--random", "100", "--op", op, "--engines", "ref"]),
        ("text cases", [program, ROOT / "tests" / "text"]),
    ]
    if unit:
        steps.append(("unit tests", [unit, "--gtest_filter=*nfer*:Op*:*Ops*:*Control*"]))
    env = dict(os.environ, GE_PLUGIN_PATH=str(plugins))
    for name, command in steps:
        try:
            done = subprocess.run([str(word) for word in command], cwd=ROOT, env=env,
                                  capture_output=True, timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return f"{name}, by hanging"
        # Control flow cannot run yet, so that it has no random cases.
        none = name == "random cases" and op in ("If", "Loop", "Scan")
        if done.returncode != (2 if none else 0):
            return name
    return None


def plugin_folder(folder, but=None):
    """A folder with the engines of build/release, linked, but one."""
    plugins = folder / "plugins"
    plugins.mkdir()
    for engine in (BUILD / "lib" / "graphengine").glob("*.so"):
        if engine.name != but:
            os.link(engine, plugins / engine.name)
    return plugins


def try_one(builder, options):
    """(mutant, who noticed it or None) for one file; (None, why) when no change compiles."""
    with tempfile.TemporaryDirectory(prefix="mutate-", dir=BUILD.parent) as name:
        folder = pathlib.Path(name)
        mutant = next((m for m in options if builder.compiles(m, folder)), None)
        if mutant is None:
            return None, "no change of it compiles; name one in mutations.txt"
        op = operator_name(mutant.path)
        if mutant.is_kernel:
            plugins = plugin_folder(folder, but="ref.so")
            builder.run_link(builder.link[True], folder, plugins / "ref.so", mutant)
            return mutant, noticed_by(BUILD / "bin" / "ge-test", plugins, op, None)
        program, unit = folder / "ge-test", None
        builder.run_link(builder.link[False], folder, program, mutant)
        if builder.unit:
            unit = folder / "ge-unit"
            builder.run_link(builder.unit, folder, unit, mutant)
        return mutant, noticed_by(program, plugin_folder(folder), op, unit)


def check_baseline(op):
    with tempfile.TemporaryDirectory(prefix="mutate-", dir=BUILD.parent) as name:
        plugins = plugin_folder(pathlib.Path(name))
        unit = BUILD / "bin" / "ge-unit"
        return noticed_by(BUILD / "bin" / "ge-test", plugins, op, unit if unit.exists() else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="files of this stem; may be repeated")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--list", action="store_true", help="print the changes and end")
    parser.add_argument("-v", action="store_true", help="name each change and who noticed it")
    args = parser.parse_args()
    table = read_table()
    files = sorted(KERNELS.glob("*.cc")) + sorted(RULES.glob("*.cc"))
    files = [f for f in files if not args.only or f.stem in args.only]
    plans = {f: chosen(f, table) for f in files}
    if args.list:
        for f, options in plans.items():
            print(options[0] if options else f"{f.relative_to(ROOT)}: no change is known")
        return 0
    if not (BUILD / "bin" / "ge-test").exists():
        sys.exit("mutate: build/release/bin/ge-test is missing; ./test builds it")
    broken = check_baseline("Add")
    if broken:
        sys.exit(f"mutate: the {broken} fail without a change; repair them first")
    builder = Builder()
    passed = failed = 0
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        pending = {pool.submit(try_one, builder, plans[f]): f for f in files}
        for done in concurrent.futures.as_completed(pending):
            mutant, by = done.result()
            what = mutant or pending[done].relative_to(ROOT)
            good = mutant is not None and by is not None
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAILED  {what}: {by if mutant is None else 'nothing noticed it'}")
            elif args.v:
                print(f"noticed by {by}: {what}")
            count, spent = passed + failed, time.monotonic() - begin
            left = spent / count * (len(files) - count)
            if count % 10 == 0 or args.v:
                print(f"  {count} of {len(files)}, {spent:.0f} s, about {left:.0f} s left",
                      flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
