#!/usr/bin/env python3
"""Runs every console block of docs/tour.md and compares its output with what the page shows.

A block is fenced with "console"; its first line is "$ COMMAND", run from the top of the tree with
the built ge first in PATH. A line "..." stands for any lines, " ..." at the end of a line for the
rest of it; everything else must be there, in order. A block fenced "console numbers" is compared
with its numbers, times and digests masked: they belong to the machine. The page's picture must have
the boxes, devices and edges of the one that the page's command draws.
Prints each difference and, last, the counts.

Examples:
  tests/e2e/docs/tour.py
  tests/e2e/docs/tour.py --page docs/tour.md --build build/asan
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
PICTURE, DRAWN = ROOT / "docs/tour_lenet.svg", ROOT / "build/tour.svg"
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
# A network's size, its own names and its answer are the same everywhere; prices are not.
MASKS = [(r'hash="[0-9a-f]+"', 'hash="#"'), (NUMBER + r" (?:ns|us|ms)\b", "#time"),
         (r"\b(\w+_ns|bytes|offset|\w+_index)=" + NUMBER, r"\1=#"), (r"-{2,}", "--"),
         (r"(?<![\w#])" + NUMBER + r"(?![\w.])", "#")]


def blocks(page):
    """(line number, flags, command, expected lines) of every console block."""
    out, fence = [], None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if fence is None and line.startswith("```"):
            fence = (number, line[3:].split(), [])
        elif line == "```":
            if fence[1][:1] == ["console"]:
                if not fence[2] or not fence[2][0].startswith("$ "):
                    raise SystemExit(f"{page}:{fence[0]}: a console block begins with '$ COMMAND'")
                out.append((fence[0], fence[1][1:], fence[2][0][2:], fence[2][1:]))
            fence = None
        elif fence is not None:
            fence[2].append(line)
    return out


def masked(line, numbers):
    for pattern, with_what in MASKS if numbers else []:
        line = re.sub(pattern, with_what, line)
    return " ".join(line.split())


def same(wanted, found, numbers):
    if wanted.endswith(" ..."):
        head = masked(wanted[:-4], numbers)
        return masked(found, numbers).startswith(head)
    return masked(wanted, numbers) == masked(found, numbers)


def difference(wanted, found, numbers):
    """Words for the first line that is not as the page shows it, None when all are."""
    at, skip = 0, False
    for line in wanted:
        if line.strip() == "...":
            skip = True
            continue
        start = at
        while at < len(found) and not same(line, found[at], numbers):
            if not skip:
                return f"the page says\n  {line}\nand the command\n  {found[at]}"
            at += 1
        if at == len(found):
            return f"the page says\n  {line}\nwhich the command does not print after line {start}"
        at, skip = at + 1, False
    if at < len(found) and not skip:
        return f"the command goes on with\n  {found[at]}"
    return None


def shape(picture):
    """What a picture shows, without prices and places."""
    root = xml.etree.ElementTree.parse(picture).getroot()
    keys = ("class", "data-name", "data-op", "data-segment", "data-device", "data-from", "data-to",
            "data-bytes")
    return [tuple(e.get(k) for k in keys) for e in root.iter()
            if any(e.get(k) is not None for k in keys[1:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/tour.md")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    path = f"{args.build.resolve() / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    passed, faults = 0, []
    DRAWN.unlink(missing_ok=True)
    for number, flags, command, wanted in blocks(args.page):
        done = subprocess.run(["bash", "-c", command], cwd=ROOT, env={**os.environ, "PATH": path},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        words = difference(wanted, done.stdout.splitlines(), "numbers" in flags)
        if done.returncode != 0:
            words = f"exit {done.returncode}: {done.stderr.strip()}"
        if words:
            faults.append(f"{args.page}:{number}: {command}\n{words}")
        else:
            passed += 1
    if not passed and not faults:
        faults.append(f"{args.page}: no console block was found")
    if DRAWN.exists() and shape(DRAWN) == shape(PICTURE):
        passed += 1
    else:
        faults.append(f"{PICTURE}: not what the page's command draws; copy {DRAWN} over it")
    print("".join(f"FAILED {fault}\n" for fault in faults), end="")
    print(f"{passed} passed, {len(faults)} failed, 0 skipped")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
