#!/usr/bin/env python3
"""Runs clang-tidy 14 with the checks of .clang-tidy over the sources of the product, by the compile
commands of a build; files of a unity build are looked at together, as they are compiled.

Left out are generated files, tests, and kernels that are built once an instruction set, whose
intrinsics are GCC's. Prints each finding and, last, the counts of files that were looked at.

Examples:
  tests/e2e/all/code/tidy.py
  tests/e2e/all/code/tidy.py ge_place ge_ops
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
PRODUCT = re.compile(r"^CMakeFiles/(?:ge|fe)_\w+\.dir/|^(?:frontend|ge|passes|streams|plugins|examples)/|"
                     r"^tools/ge/|^sdk/conform/")
LEFT_OUT = re.compile(r"ge_wire|cpu_simd|_code_kernels|ge-unit|_test\.cc|\.c\.o$")
# clang 14 has _Float16 on this processor family with these instructions alone.
FLAGS = ["--extra-arg=-mavx512fp16", "--extra-arg=-Wno-everything"]


def units(build, words):
    """The files to look at, in the order of the compile commands."""
    out = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        made = re.search(r" -o (\S+)", entry["command"])[1]
        if PRODUCT.search(made) and not LEFT_OUT.search(made) and not LEFT_OUT.search(entry["file"]):
            if not words or any(word in made for word in words):
                out.append(entry["file"])
    return out


def findings(tool, build, file):
    """(findings of this file, whether it could be read)."""
    done = subprocess.run([tool, "-quiet", "-p", str(build), *FLAGS, file], cwd=ROOT, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.findall(r"^\S+:\d+:\d+: (?:warning|error): .*\[[\w.,-]+\]$", done.stdout, re.M)
    return [f.replace(f"{ROOT}/", "") for f in found], done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("words", nargs="*", help="parts of object files' paths; default: all")
    args = parser.parse_args()
    tool = shutil.which("clang-tidy-14")
    if tool is None:
        print("skipped: no clang-tidy-14; run: tools/setup/install.sh all\n0 passed, 0 failed, 1 skipped")
        return 0
    said, passed, failed = set(), 0, 0
    files = units(args.build.resolve(), args.words)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for file, (found, read) in zip(files, pool.map(lambda f: findings(tool, args.build, f), files)):
            new = sorted(set(found) - said)  # a header is seen from many files
            said.update(new)
            if not read and not found:
                new = [f"{file}: clang-tidy could not read it"]
            for words in new:
                print(f"FAILED  {words}", flush=True)
            passed, failed = passed + (not new), failed + bool(new)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
