#!/usr/bin/env python3
"""Compares the names of AscendCL in plugins/ascend with docs/ascend/sources.md: every function,
value, operator, rule and chip that the code names has a line there, with a source and a licence;
values have the number of that line; and no line is about a name that nobody uses. README and pages
say of the engine what is true of it, and nothing else.

Example: tests/e2e/ascend/ascend_sources.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
API = ROOT / "plugins/ascend/api"
LICENCES = {"MIT", "BSD-3-Clause", "Apache-2.0"}
NEVER_OPENED = ("hicann", "mindspore-ai/graphengine", "third_party")
SENTENCE = "written against the public interface; tested only on a simulator of our own, never on a chip"
CLAIMS = ("runs on ascend", "on ascend hardware", "verified on ascend", "tested on ascend", "supports ascend")


class Lines:
    """The table of sources.md: name -> (kind, number, source, licence)."""

    def __init__(self, text):
        self.rows = {}
        self.rules = set()
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("| `"):
                continue
            name = cells[0].strip("`")
            if len(cells) == 2:
                self.rules.add(name)
            else:
                self.rows[name] = tuple(cells[1:5])


def declared():
    """(name, kind, number or '') of everything that the declarations name."""
    acl = (API / "acl.h").read_text()
    objects = (API / "operators.h").read_text()
    table = (API / "operators.def").read_text().split("#define GE_ACLNN_BINARY", 1)[1].split("\n", 1)[1]
    found = [(name, "function", "") for name in re.findall(r"^  F\((\w+)", acl, re.M)]
    found += [(name, "function", "") for name in re.findall(r"\(\*(acl\w+)\)\(", acl + objects)]
    for number, name in re.findall(r"= (\d+)[,;] +// (ACL_\w+|error \d+)", acl):
        found.append((name, "constant", number))
    found += [("aclnn" + name, "operator", "")
              for name in re.findall(r"^GE_ACLNN(?:_UNARY|_BINARY)?\((\w+)", table, re.M)]
    return found


def unnamed_values():
    """Values of acl.h without the vendor's name behind them."""
    acl = (API / "acl.h").read_text()
    return [line.strip() for line in acl.splitlines()
            if re.match(r"\s*(k\w+ = \d+,|inline constexpr \w+ k\w+ = )", line)
            and not re.search(r"// (ACL_\w+|error \d+)|rule:", line) and "kKeepDtype" not in line]


def code_names():
    """Chips and rules that the code names."""
    text = "".join(path.read_text() for folder in ("plugins/ascend", "tools/ascend_check")
                   for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cc", ".h", ".def", ".c"))
    return set(re.findall(r'"(Ascend\d\w*(?:-\d)?)"', text)), set(re.findall(r"\brule:[a-z0-9-]+", text))


def check_rows(lines, say):
    names = declared()
    for name, kind, number in names:
        row = lines.rows.get(name)
        say(row is not None, f"{name}: docs/ascend/sources.md has no line for it")
        if row is None:
            continue
        say(row[0] == kind, f"{name}: sources.md says that it is a {row[0]}, the code a {kind}")
        say(row[1] == number, f"{name}: sources.md has the number '{row[1]}', the code '{number}'")
    chips, rules = code_names()
    for name in sorted(chips | rules):
        say(name in lines.rows, f"{name}: docs/ascend/sources.md has no line for it")
    used = {name for name, _, _ in names}
    for name, (kind, _, source, licence) in lines.rows.items():
        say("@" in source, f"{name}: no source")
        say(all(one.strip() in LICENCES for one in licence.split(",")), f"{name}: licence '{licence}'")
        say(not any(word in source for word in NEVER_OPENED), f"{name}: a source that is never opened")
        if kind in ("function", "constant", "operator"):
            say(name in used, f"{name}: nobody uses it; its line goes")
        if kind == "rule":
            say(name in lines.rules, f"{name}: the rule is not written out")


def check_words(say):
    readme = " ".join((ROOT / "README.md").read_text().split())
    say(SENTENCE in readme, f"README.md does not say: {SENTENCE}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = " ".join(path.read_text().lower().split())
        for claim in CLAIMS:
            say(claim not in text, f"{path.relative_to(ROOT)}: claims '{claim}'")


def main():
    results = []

    def say(right, text):
        results.append(right)
        if not right:
            print(text)

    lines = Lines((ROOT / "docs/ascend/sources.md").read_text())
    for value in unnamed_values():
        say(False, f"plugins/ascend/api/acl.h: '{value}' has no name of the vendor's behind it")
    check_rows(lines, say)
    check_words(say)
    print(f"{results.count(True)} passed, {results.count(False)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
