#!/usr/bin/env python3
"""Adds up the lines of llvm-cov's summary by folder of the product: llvm-cov export ... | coverage.py

Folders of which nothing is reached are left out, and so are tests and generated files.
"""
import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    folders = collections.defaultdict(lambda: [0, 0])
    for entry in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(entry["filename"])
        if not path.is_relative_to(ROOT):
            continue
        path = path.relative_to(ROOT)
        if path.parts[0] not in ("build", "tests"):
            lines = entry["summary"]["lines"]
            folders[str(path.parent)][0] += lines["covered"]
            folders[str(path.parent)][1] += lines["count"]
    for folder, (covered, count) in sorted(folders.items()):
        if covered:
            print(f"  {folder}: {covered} of {count} lines, {100 * covered / count:.0f} %")


if __name__ == "__main__":
    main()
