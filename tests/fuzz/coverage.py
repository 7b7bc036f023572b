#!/usr/bin/env python3
"""Adds up the lines of llvm-cov's summary by folder of the product: llvm-cov export ... | coverage.py

A file that was compiled by two spellings of its path, one of them through the build folder, counts
once, by the one of which more is reached. Folders of which nothing is reached are left out, and so
are tests and generated files.
"""
import collections
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    files = {}  # path -> (lines reached, of all)
    for entry in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(os.path.normpath(entry["filename"]))
        if not path.is_relative_to(ROOT):
            continue
        path = path.relative_to(ROOT)
        if path.parts[0] not in ("build", "tests"):
            lines = entry["summary"]["lines"]
            files[path] = max(files.get(path, (0, 0)), (lines["covered"], lines["count"]))
    folders = collections.defaultdict(lambda: [0, 0])
    for path, (covered, count) in files.items():
        folders[str(path.parent)][0] += covered
        folders[str(path.parent)][1] += count
    for folder, (covered, count) in sorted(folders.items()):
        if covered:
            print(f"  {folder}: {covered} of {count} lines, {100 * covered / count:.0f} %")


if __name__ == "__main__":
    main()
