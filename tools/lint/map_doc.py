#!/usr/bin/env python3
"""Writes docs/map.md: the rooms of rooms.txt, and where each file of docs/moved.txt went.

The lint rule `map` fails when the page is not what this writes. Exit codes: 0 written, 2 a table
cannot be read.

Example: tools/lint/map_doc.py
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import rooms as rooms_table  # noqa: E402

PAGE, MOVED = "docs/map.md", "docs/moved.txt"
HEAD = """# Map

Written by `tools/lint/map_doc.py` from `rooms.txt` and `docs/moved.txt`; do not edit.

Folders stand in the order of the arrows: one includes itself and what is named beside it, and that stands
above it. `in X` shares one house with X. Sets of names:
"""
MOVES = """
## Where each file of before went

An older page names the left path.

| before | now |
|---|---|
"""


def moves(text):
    """[(old path, [new paths])]. A file that moved twice is at its last place."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        old, arrow, new = line.partition(" -> ")
        if not arrow or not new.split():
            raise ValueError(f"{MOVED}:{number}: '{line}' is not OLD -> NEW")
        for paths in found.values():
            if old in paths:
                at = paths.index(old)
                paths[at:at + 1] = new.split()
                break
        else:
            found[old] = new.split()
    return sorted(found.items())


def quoted(words):
    return " ".join(f"`{word}`" for word in words)


def rows(table, planned):
    for room in table.rooms:
        if room.planned == planned:
            name = room.folder + ("/**" if room.deep else "")
            plain = room.words[0] in ("-", "*") or room.words[0] == "in"
            may = {"-": "nothing", "*": "all above"}.get(room.words[0], " ".join(room.words))
            yield f"| `{name}` | {room.sentence} | {may if plain else quoted(room.words)} |\n"


def page(rooms_text, moved_text):
    """The text of docs/map.md."""
    table = rooms_table.Rooms(rooms_text)
    sets = [line for line in rooms_text.splitlines() if line.startswith("@")]
    text = HEAD + "\n" + "".join(f"- `{name}`: {quoted(words.split())}\n" for name, words in
                                 (line.split(" = ", 1) for line in sets))
    columns = "| folder | what it is | may include |\n|---|---|---|\n"
    text += "\n## Rooms\n\n" + columns + "".join(rows(table, False))
    text += "\n## Planned rooms\n\n" + columns + "".join(rows(table, True))
    gone = moves(moved_text)
    return text + (MOVES + "".join(f"| `{old}` | {quoted(new)} |\n" for old, new in gone) if gone else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    try:
        text = page((root / rooms_table.NAME).read_text(), (root / MOVED).read_text())
    except ValueError as fault:
        sys.exit(f"map_doc: {fault}")
    (root / PAGE).write_text(text)


if __name__ == "__main__":
    main()
