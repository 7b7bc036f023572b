#!/usr/bin/env python3
"""Writes docs/testing.md: each folder of the product, the tests that reach it, the share of its lines that run
in them, the share of its mutants that tests notice, and the largest share of an output's greatest
magnitude by which a random case lets an element be off (ge-test --random -v). Lines are read from what
`tests/e2e/all/code/coverage.py --write` wrote last, mutants from `mutate.py --write` beside it.

A test reaches a folder when it lies there or includes a header of it.

Example: tools/gen/testing_doc.py --count 40
"""
import argparse
import collections
import functools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lint"))

import map_doc  # noqa: E402
import rooms  # noqa: E402

FOLDERS = ["frontend", "ge", "passes", "streams", "plugins"]
# What runs whole models goes through all of these.
WHOLE = ["frontend/onnx", "frontend/text", "ge/compile", "ge/infer", "ge/place", "ge/partition", "ge/memory",
         "ge/plan/check", "ge/run", "ge/session", "streams", "passes"]
BOUND = re.compile(r"^(\S+) +(\S+) +(\w+): may be off by (\S+) of the greatest, at most (\S+)$")
INCLUDE = re.compile(r'^#include "([^"]+)/[^/"]+"', re.M)
# Where no sweep has been written yet.
NO_MUTANTS = " Mutants are not in it yet."
HEAD = """# What is tested, and how far a test lets a result be off

Written by `tools/gen/testing_doc.py`; do not edit.

An element of a random case may be off by its own rounding, twice the unit roundoff of its type (f64
1.1e-16, f32 6.0e-8, f16 4.9e-4, bf16 3.9e-3), and by the error of arithmetic in f32 (f64 in f64):
`bound` in the operator's file in `tools/ge_test/cases`, as a share of what its `Error` says
(`tools/ge_test/random_case.h`): the element, the sum of its terms' magnitudes times the root of their
number, what a change of the inputs does to it, or the greatest magnitude. Integers, bools and operators
whose bound is 0 are bit-equal. ONNX's node tests have ONNX's own tolerance, 1e-3 of an element
(2^-6 of a bf16) and 1e-5. Faults that must be noticed are planted by `tests/e2e/plugins/planted.sh`, and in each operator's cases.
"""


def folders():
    made = set()
    for top in FOLDERS:
        for path in (ROOT / top).rglob("*.cc"):
            if not path.name.endswith("_test.cc"):
                made.add(path.parent.relative_to(ROOT).as_posix())
    return sorted(made)


def reached():
    """{folder: names of unit tests that lie there or include a header of it}."""
    tests = collections.defaultdict(set)
    for top in [*FOLDERS, "tests/unit"]:
        for path in (ROOT / top).rglob("*_test.cc"):
            tests[path.parent.relative_to(ROOT).as_posix()].add(path.stem)
            for folder in INCLUDE.findall(path.read_text()):
                tests[folder].add(path.stem)
    return tests


def others(folder):
    """Steps of ./test beside unit tests."""
    steps = ["random", "random-models", "onnx-node"]
    if folder.startswith("ge/ops") or folder.startswith("plugins"):
        return steps
    if any(folder == w or folder.startswith(w + "/") for w in WHOLE):
        return ["text", *steps[1:], "e2e"]
    return ["text", "e2e"]


def mutants(path):
    """({folder: its words}, words of all folders, its seed and how many were judged) of mutate.py's table; nothing
    where there is none."""
    if not path.exists():
        return {}, None, None
    lines = path.read_text().splitlines()
    seed = re.search(r"seed (\d+), (\d+) of (\d+) judged", lines[0]).groups()
    names = lines[1].split()
    rows = {line.split()[0]: dict(zip(names, line.split())) for line in lines[2:]}
    return rows, rows.pop("all"), seed


def coverage(path):
    """({folder: its words}, words of all folders, the day, what was not counted, the steps that ran) of coverage.py's
    table."""
    if not path.exists():
        return {}, None, None, None, None
    lines = path.read_text().splitlines()
    day, left_out = re.search(r"(\d{4}-\d\d-\d\d)(?:, without ([\w ]+))?;", lines[0]).groups()
    steps, names = lines[1].removeprefix("# steps: ").split(), lines[2].split()
    rows = {line.split()[0]: dict(zip(names, line.split())) for line in lines[3:]}
    return rows, rows.pop("all"), day, left_out, steps


def ran(row):
    """'97 % of 1,204' of a folder's lines. What is not all of them is never 100 %."""
    if row is None:
        return "none counted"
    lines, reached = int(row["lines"]), int(row["reached"])
    return f"{reached * 100 // lines} % of {lines:,}"


def about_lines(args):
    """The paragraph on lines, and {folder: its words}."""
    rows, total, day, left_out, steps = coverage(args.coverage)
    if total is None:
        return [], {}
    without = f", without those of {left_out.replace(' ', ', ')}, which the machine lacked" if left_out else ""
    which = "the quick steps of `./test`" if steps == ["all"] else f"these steps of `./test`: {', '.join(steps)}"
    return [
        f"Lines: those that run in {which}, by `tests/e2e/all/code/coverage.py` on {day}{without}. "
        f"In all {ran(total)}. A line of a template, or of a kernel of several instruction sets, counts once.", ""], rows


@functools.lru_cache(maxsize=None)
def before(folder):
    """The folder that most of its files stood in before they moved; itself where none did."""
    moves = map_doc.moves((ROOT / map_doc.MOVED).read_text())
    left = collections.Counter(old.rpartition("/")[0] for old, new in moves
                               if any(path.rpartition("/")[0] == folder for path in new))
    return left.most_common(1)[0][0] if left else folder


def cell(folder, rows, say):
    """What `say` makes of the folder's row, or in whose row it was counted: those that were written before its files
    moved are of the folder that they stood in."""
    at = folder if folder in rows else before(folder)
    return f"counted in `{at}`" if at != folder and at in rows else say(rows.get(folder))


def noticed(row):
    """'58 of 60' of a folder's mutants."""
    if row is None:
        return "not mutated: not swept yet"
    good = sum(int(row[name]) for name in ("noticed", "crashed", "timed_out"))
    return f"{good} of {good + int(row['not_noticed'])}"


def about_mutants(total, seed, found):
    """The paragraphs on mutants: what they are, and which folders have none."""
    unswept = [folder for folder in folders() if folder not in found and before(folder) not in found]
    names = ", ".join(f"`{folder}`" for folder in unswept)
    return [
        f"Mutants: changes of one place, drawn by seed {seed[0]}, that `tests/e2e/all/code/mutate.py` compiles into the "
        f"product and switches on one at a time, {seed[1]} of {seed[2]}, as large a part of each folder that the table "
        "gives a count; those that a step of `./test` notices, of those that it could "
        f"(`mutants_equal.txt` beside it argues why it could not notice {total['equal']} others). In all "
        f"{noticed(total)}, {float(total['share']):.1%}: {total['noticed']} by a test that fails, "
        f"{total['crashed']} by a crash, {total['timed_out']} by a time-out.", "",
        f"Not mutated: {names}. Of nothing else than the folders with a count is anything claimed.", ""]


def mutated(folder, found, table):
    """A folder's cell: its count, or why there is none."""
    room = table.of(folder)
    if room is not None and room.why_not_mutated:
        return f"not mutated: {room.why_not_mutated}"
    return cell(folder, found, noticed)


def bounds(args):
    """[(operator, type, greatest share)], widest first."""
    done = subprocess.run([args.build / "bin/ge-test", "--random", str(args.count), "--engines", "ref", "-v"],
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"})
    found = [BOUND.match(line) for line in done.stdout.splitlines()]
    return sorted(((m[2], m[3], float(m[5])) for m in found if m), key=lambda r: -r[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="random cases of each operator")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--mutants", type=pathlib.Path, default=ROOT / "tests/e2e/all/code/mutants_found.txt")
    parser.add_argument("--coverage", type=pathlib.Path, default=ROOT / "tests/e2e/all/code/coverage_found.txt")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/testing.md")
    args = parser.parse_args()
    rows, tests, table = bounds(args), reached(), rooms.read(ROOT)
    lines = [HEAD, "## Widest bounds of random cases, by element type", "",
             f"`ge-test --random {args.count} --engines ref -v`: the greatest bound of any element of the first "
             "outputs judged, as a share of the output's greatest magnitude.", "",
             "| type | operators | widest | the operators that have it |", "|---|---|---|---|"]
    for kind in ["f64", "f32", "f16", "bf16"]:
        of = [r for r in rows if r[1] == kind]
        if of:
            names = ", ".join(f"{name} {share:.1e}" for name, _, share in of[:5])
            lines.append(f"| {kind} | {len(of)} | {of[0][2]:.1e} | {names} |")
    found, total, seed = mutants(args.mutants)
    lines += ["", "## Folders", ""]
    said, reached_lines = about_lines(args)
    lines += said
    if total is None:
        lines[0] = lines[0].replace("do not edit.", "do not edit." + NO_MUTANTS)
    else:
        lines += about_mutants(total, seed, found)
    columns = ["folder", "unit tests", "other steps of `./test`"]
    columns += (["lines that run"] if reached_lines else []) + (["mutants noticed"] if total else [])
    lines += [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for folder in folders():
        cells = [f"`{folder}`", ", ".join(sorted(tests[folder])) or "none", ", ".join(others(folder))]
        cells += [cell(folder, reached_lines, ran)] if reached_lines else []
        cells += [mutated(folder, found, table)] if total else []
        lines.append(f"| {' | '.join(cells)} |")
    args.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
