#!/usr/bin/env python3
"""Writes docs/passes.md: every pass that `ge passes` knows, in the order in which they run, and where to
look at what one does to a model. The file is not kept in git.

Examples:
  tools/gen/passes_doc.py
  tools/gen/passes_doc.py --plugins ./square.so -o passes.md
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {"canonicalise": "the same values from fewer or simpler nodes",
         "lower": "the same values from other operators",
         "derive": "adds functions, states and entries"}


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def page(passes):
    lines = ["# Passes", "",
             "Written by `tools/gen/passes_doc.py`; not kept in git. In the order in which they run: `load` "
             "when a model is loaded, `bind` again for each set of input shapes, `asked` only where "
             "`--pass NAME` asks. `--skip NAME` leaves one out; `GE_CHECK_PASSES=1` compares values "
             "around each.", "",
             *[f"- **{kind}**: {text}" for kind, text in KINDS.items()], "",
             "| pass | kind | when | what it does |", "|---|---|---|---|"]
    for p in passes:
        brought = f" ({p['plugin']})" if p["plugin"] else ""
        lines.append(f"| {p['name']}{brought} | {p['kind']} | {' '.join(p['phases'])} | "
                     f"{cell(p['summary'])} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--plugins", help="plugins whose passes are listed, too")
    parser.add_argument("-o", type=pathlib.Path, default=ROOT / "docs" / "passes.md")
    args = parser.parse_args()
    command = [args.bin / "ge", "passes", "--json"]
    command += ["--plugins", args.plugins] if args.plugins else []
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"passes_doc.py: {' '.join(map(str, command))}: exit {done.returncode}")
    passes = json.loads(done.stdout)["passes"]
    unknown = {p["kind"] for p in passes} - KINDS.keys()
    if not passes or unknown:
        sys.exit(f"passes_doc.py: {len(passes)} passes, of unknown kinds {sorted(unknown)}")
    args.o.parent.mkdir(parents=True, exist_ok=True)
    partial = args.o.with_name(f".{args.o.name}.{os.getpid()}")
    partial.write_text(page(passes))
    partial.rename(args.o)
    print(f"{args.o}: {len(passes)} passes")


if __name__ == "__main__":
    main()
