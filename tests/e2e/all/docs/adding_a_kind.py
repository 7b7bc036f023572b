#!/usr/bin/env python3
"""Does what docs/adding-a-kind.md says in a copy of the tree: an operator of native is two new files and no
edited one, an algorithm of convolution one file and one line. Prints each fault and, last, the counts.

Example: tests/e2e/all/docs/adding_a_kind.py
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import adding_an_op

PAGE = "docs/adding-a-kind.md"
KIND_LINES = 45  # of an operator's two files together, at most


def write_files(tree, page, c):
    kind, algorithm = [], []
    for language, name, content in adding_an_op.blocks(page):
        if not name:
            continue
        c.check(not (tree / name).exists(), f"{name} exists already")
        (tree / name).write_text(content)
        if language == "cpp":
            (algorithm if "/conv/" in name else kind).append(content.count("\n"))
    c.check(len(kind) == 2, f"an operator is {len(kind)} files, wanted 2")
    c.check(sum(kind) <= KIND_LINES, f"an operator is {sum(kind)} lines, wanted at most {KIND_LINES}")
    c.check(len(algorithm) == 1, f"an algorithm is {len(algorithm)} files, wanted 1")
    print(f"an operator: {len(kind)} new files, {sum(kind)} lines; an algorithm: {len(algorithm)} new file")


def try_page(tree, c):
    page = (tree / PAGE).read_text()
    write_files(tree, page, c)
    environment, last = "", ""
    for language, name, command in adding_an_op.blocks(page):
        if language != "sh" or name:
            continue
        code, text = adding_an_op.run(environment + command, tree)
        if not c.check(code == 0, f"exit {code} of:\n{command}{text[-3000:]}"):
            return
        environment += "".join(f"{line}\n" for line in command.splitlines() if line.startswith("export "))
        last = text
    counts = [line for line in last.splitlines() if line.endswith(" skipped") and line[0].isdigit()]
    c.check(counts == ["60 passed, 0 failed, 0 skipped"] * 2, f"ge-test said {counts}")
    for op in ("Conv", "Binarizer"):
        c.check(any(op in line and "native" in line for line in last.splitlines()),
                f"ge explain does not give {op} to native:\n{last[-3000:]}")
    edited = subprocess.run(["diff", "-rq", "plugins", adding_an_op.ROOT / "plugins"], cwd=tree,
                            stdout=subprocess.PIPE, text=True).stdout.splitlines()
    changed = [line for line in edited if line.startswith("Files ")]
    c.check(len(changed) == 1 and "algorithms.def" in changed[0], f"files of before differ: {changed}")
    lines = [len((root / "plugins/cpu/native/conv/algorithms.def").read_text().splitlines())
             for root in (tree, adding_an_op.ROOT)]
    c.check(lines[0] == lines[1] + 1, f"algorithms.def has {lines[0]} lines and had {lines[1]}")


def main():
    argparse.ArgumentParser(description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    c = adding_an_op.Checks()
    with tempfile.TemporaryDirectory(prefix="ge-adding-a-kind.") as folder:
        tree = pathlib.Path(folder)
        adding_an_op.copy_tree(tree)
        try_page(tree, c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    sys.exit(1 if c.failed else 0)


if __name__ == "__main__":
    main()
