#!/usr/bin/env python3
"""Writes docs/map.md: the rooms of rooms.txt, where each operator of our engines is parsed, and where each
file of docs/moved.txt went.

The lint rule `map` fails when the page is not what this writes. Exit codes: 0 written, 2 a table
cannot be read.

Example: tools/lint/map_doc.py
"""
import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import rooms as rooms_table  # noqa: E402

PAGE, MOVED = "docs/map.md", "docs/moved.txt"
HEAD = """# Map

Written by `tools/lint/map_doc.py` from `rooms.txt` and `docs/moved.txt`; do not edit.

Folders stand in the order of the arrows: one includes itself and what is named beside it, and that stands
above it. `in X` shares one house with X. Sets of names:
"""
UNITS = "plugins/units/"
OPERATORS = """
## Operators of the CPU engines

What a node of each becomes stands in `plugins/units/FILE`, how `native` computes it in
`plugins/cpu/native/FILE.cc`; rows of one file may become units of a relative in its folder.

| operator | file |
|---|---|
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


def operators(units):
    """(operator, FAMILY/KIND) of each row of the kinds' tables; units: path -> text of plugins/units."""
    for path, text in sorted(units.items()):
        for name in re.findall(r'\{\s*(?:\.op = )?"([\w.]+)",\s*(?:\.parse = )?Parse', text):
            yield name, re.sub(r"\.(h|cc)$", "", path[len(UNITS):])


def page(rooms_text, moved_text, units):
    """The text of docs/map.md; units: path -> text of the sources of plugins/units."""
    table = rooms_table.Rooms(rooms_text)
    sets = [line for line in rooms_text.splitlines() if line.startswith("@")]
    text = HEAD + "\n" + "".join(f"- `{name}`: {quoted(words.split())}\n" for name, words in
                                 (line.split(" = ", 1) for line in sets))
    columns = "| folder | what it is | may include |\n|---|---|---|\n"
    text += "\n## Rooms\n\n" + columns + "".join(rows(table, False))
    text += "\n## Planned rooms\n\n" + columns + "".join(rows(table, True))
    taken = {}
    for name, place in operators(units):
        taken.setdefault(name, []).append(place)
    text += OPERATORS + "".join(f"| {name} | {quoted(dict.fromkeys(places))} |\n"
                                for name, places in sorted(taken.items())) if taken else ""
    gone = moves(moved_text)
    return text + (MOVES + "".join(f"| `{old}` | {quoted(new)} |\n" for old, new in gone) if gone else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    try:
        units = {path.relative_to(root).as_posix(): path.read_text()
                 for path in (root / UNITS).rglob("*") if path.suffix in (".h", ".cc")}
        text = page((root / rooms_table.NAME).read_text(), (root / MOVED).read_text(), units)
    except ValueError as fault:
        sys.exit(f"map_doc: {fault}")
    (root / PAGE).write_text(text)


if __name__ == "__main__":
    main()
