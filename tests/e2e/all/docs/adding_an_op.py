#!/usr/bin/env python3
"""Does what docs/adding-an-op.md says in a copy of the tree: writes its files, builds, runs its
commands. Prints each fault and, last, the counts.

Example: tests/e2e/all/docs/adding_an_op.py
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
FILES, LINES = 3, 85  # new files, and their lines together, at most


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, text):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {text}")
        return good


def blocks(text):
    """(language, file or "", content) of each fenced block."""
    return re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S)


def copy_tree(to):
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    for name in files.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def run(command, folder):
    done = subprocess.run(["bash", "-euc", command], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def try_guide(tree, c):
    new, commands = [], []
    for language, name, content in blocks((tree / "docs" / "adding-an-op.md").read_text()):
        if language == "sh":
            commands.append(content)
        elif name:
            c.check(not (tree / name).exists(), f"{name} exists already")
            (tree / name).write_text(content)
            new += [(name, content.count("\n"))] if language == "cpp" else []
    lines = sum(count for _, count in new)
    c.check(len(new) == FILES, f"{len(new)} files, wanted {FILES}")
    c.check(lines <= LINES, f"{lines} lines, wanted at most {LINES}")
    print(f"{len(new)} new files, {lines} lines, no file edited")
    environment = ""
    for command in commands:
        code, text = run(environment + command, tree)
        if not c.check(code == 0, f"exit {code} of:\n{command}{text[-3000:]}"):
            return
        environment += "".join(f"{line}\n" for line in command.splitlines()
                               if line.startswith("export "))
        if "--random" in command:
            last = text.strip().splitlines()[-1]
            c.check(last == "100 passed, 0 failed, 0 skipped", f"found '{last}'")
    code, text = run("python3 tools/lint/lint.py", tree)
    c.check(code == 0, f"lint: {text[-2000:]}")


def main():
    argparse.ArgumentParser(description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    c = Checks()
    with tempfile.TemporaryDirectory(prefix="ge-adding-an-op.") as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree)
        try_guide(tree, c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    sys.exit(1 if c.failed else 0)


if __name__ == "__main__":
    main()
