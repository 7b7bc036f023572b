#!/usr/bin/env python3
"""Runs ge-conform on faulty engines: each is caught at the level that faulty.txt says, by a message
that names the fault, and the honest ones are not caught at all.

Needs the targets ge-conform and faulty-engines. Prints a line for each engine that is not caught as
it should be, with what the kit said instead, and, last, the counts.

Examples:
  tests/e2e/all/plugins/faulty.py
  tests/e2e/all/plugins/faulty.py --only 'price_*' --verbose
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
TABLE = pathlib.Path(__file__).with_name("faulty.txt")
# Right in every way; of what a busy machine may disturb, times, nothing is asked of them here.
HONEST = {"honest": "L0,L1,L2,L3,L4,L7,L8", "fences_kept": "L0,L1,L2,L3,L4",
          "op_honest": "L0,L1,L2"}
CAUGHT = ("FAIL", "CRASH", "HANG")


def table():
    """[(fault, level, [words])]"""
    rows = []
    for line in TABLE.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            fault, level, words = line.split(None, 2)
            rows.append((fault, level, words.split("|")))
    return rows


def judged(args, fault, levels):
    """The cases that the kit did not let pass; a text where it cannot tell."""
    command = [args.conform, args.engines / f"faulty_{fault}.so", "--level", levels, "--json",
               "--timeout", "3" if fault.startswith("hang_") else str(args.timeout)]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    try:
        cases = json.loads(done.stdout)["cases"]
    except (json.JSONDecodeError, KeyError):
        return f"exit code {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
    return [c for c in cases if c["verdict"] in CAUGHT]


def said(cases, limit=4):
    lines = [f"    {c['level']}/{c['case']}: {c['verdict']}: {c['reason'][:220]}" for c in cases]
    more = [f"    and {len(lines) - limit} more"] if len(lines) > limit else []
    return "\n".join(lines[:limit] + more) or "    nothing"


def check(args, row):
    """(what is wrong, what the kit said): the first is empty where the fault is caught."""
    fault, level, words = row
    cases = judged(args, fault, level)
    if isinstance(cases, str):
        return "ge-conform could not judge it", cases
    named = [c for c in cases if any(w.lower() in c["reason"].lower() for w in words)]
    if not cases:
        return f"is not caught at {level}", ""
    if not named:
        return f"is caught at {level}, but nothing says {' or '.join(words)}", said(cases)
    return "", said(named, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    parser.add_argument("--conform", help="the kit (default: of the build)")
    parser.add_argument("--engines", help="folder of the faulty engines (default: of the build)")
    parser.add_argument("--only", default="*", help="glob over faults")
    parser.add_argument("--timeout", type=int, default=60, help="seconds a case, but for hangs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="also how each was caught")
    args = parser.parse_args()
    build = (ROOT / args.build).resolve()
    args.conform = pathlib.Path(args.conform or build / "bin/ge-conform").resolve()
    args.engines = pathlib.Path(args.engines or build / "lib/samples/kit").resolve()
    rows = [r for r in table() if fnmatch.fnmatch(r[0], args.only)]
    counts = {"passed": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row, (wrong, text) in zip(rows, pool.map(lambda r: check(args, r), rows)):
            counts["failed" if wrong else "passed"] += 1
            if wrong or args.verbose:
                print(f"{'FAILED' if wrong else 'caught'}  {row[0]}: {wrong or row[1]}\n{text}")
    for fault, levels in HONEST.items():
        if not fnmatch.fnmatch(fault, args.only):
            continue
        cases = judged(args, fault, levels)
        counts["failed" if cases else "passed"] += 1
        if cases:
            print(f"FAILED  {fault}: is no fault\n{cases if isinstance(cases, str) else said(cases)}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
