#!/usr/bin/env python3
"""Figures of README.md and docs/: counts again what counts or sizes, and finds figures without a command.

figures.txt names each figure that can be counted: its sentence, with {} where a number stands, and
the shell command that prints those numbers, in order. A number may be written in words or with commas.
A command that reads something of build/ or /usr is passed over where that is missing, and where it is a
log of ./test that is older than ge-test.

A figure is a number with a unit or with something that the project has many of (UNITS, THINGS). In
README.md and docs/*.md a command must stand beside each: `code` that begins with a program of ours, a
script of tests/ or tools/ or a page of docs/decisions, in its paragraph (a table's is that before or
behind it), or a console block in its section. What figures.txt names needs none. docs/decisions are
dated records and are not searched so. In docs/figures.md each row has a command that is there, a host
that the page describes, and a day.

Examples:
  tests/e2e/docs/figures.py
  tests/e2e/docs/figures.py --figures my_figures.txt --only README.md
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = pathlib.Path(__file__).with_suffix(".txt")
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
IN_WORDS = rf"(?:(?:{'|'.join(TENS)})(?:-(?:{'|'.join(WORDS[1:10])}))?|{'|'.join(WORDS)})"
NUMBER = rf"(?:\d[\d,]*(?:\.\d+)?|{IN_WORDS})"
UNITS = r"ns|us|ms|GB|MB|kB|KB|GiB|MiB|bytes|%|bytes/ns|GB/s|times"
THINGS = (r"lines|operators|tests|cases|models|networks|nets|examples|engines|passes|optimizers|schedules|weights|"
          r"nodes|graphs|exports|products|rules")
# "one thing" and "two things" are seldom counts of the project's own.
FIGURE = re.compile(rf"(?<![\w.\-^=/])(?:\d[\d,]*(?:\.\d+)?(?: (?:to|of|and) \d[\d,.]*)? ?(?:{UNITS})(?![\w/])|"
                    rf"\d+\.\d+ (?:of|as|in the)\b|"
                    rf"(?!(?:zero|one|two)\b){NUMBER}(?: (?:of|more|some|new|other|exported|ONNX|node))?(?: [\w`.*]+)? "
                    rf"(?:{THINGS})\b)", re.I)
COMMAND = re.compile(r"`(?:[A-Z_]+=\S* )*(?:\./|build/release/bin/|/usr/bin/\w+ )?([\w./\-]+)[^`]*`")
CONSOLE = re.compile(r"^(?:\$ |\./|build/release/bin/|ge )", re.M)
PROGRAMS = {"ge", "ge-test", "ge-unit", "ge-unit-cpu", "ge-adcheck", "ge-shardcheck", "ge-conform", "ascend_check", "ocr", "test", "quickstart"}


def value(word):
    """What a number in digits or words is."""
    word = word.lower()
    if word[0].isdigit():
        return float(word.replace(",", ""))
    first, _, second = word.partition("-")
    return float(TENS.get(first, 0) + (WORDS.index(second) if second else 0) if first in TENS else WORDS.index(first))


class Page:
    """A page, its paragraphs as [(first line, text, kind)]: kind is "text", "code" or "heading"."""

    def __init__(self, path, text=None):
        self.path, self.text = path, (ROOT / path).read_text() if text is None else text
        self.blocks, fence, begin, lines = [], False, 1, []
        for number, line in enumerate([*self.text.split("\n"), ""], 1):
            if line.startswith("```"):
                if not fence:
                    self.close(begin, lines, "text")
                    begin, lines = number, []
                else:
                    self.close(begin, lines, "code")
                    begin, lines = number + 1, []
                fence = not fence
            elif not fence and (not line.strip() or line.startswith(("#", "- ", "1. "))):
                self.close(begin, lines, "text")
                begin, lines = number, []
                if line.startswith("#"):
                    self.blocks.append((number, line, "heading"))
                    begin = number + 1
                elif line.strip():
                    lines = [line]
                else:
                    begin = number + 1
            else:
                lines.append(line)

    def close(self, begin, lines, kind):
        if lines:
            self.blocks.append((begin, "\n".join(lines), kind))

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def has_command(self, index):
        """Whether a command stands beside block `index`."""
        table = self.blocks[index][1].startswith("|")
        near = self.blocks[max(index - 1, 0):index + 2] if table else [self.blocks[index]]
        if any(names_command(text) for _, text, kind in near if kind == "text"):
            return True
        first = max((i for i in range(index) if self.blocks[i][2] == "heading"), default=0)
        last = min((i for i in range(index, len(self.blocks)) if self.blocks[i][2] == "heading"),
                   default=len(self.blocks))
        return any(kind == "code" and CONSOLE.search(text) for _, text, kind in self.blocks[first:last])


@functools.cache
def scripts():
    """Names of the scripts of tools/bench and tests/e2e/all and of the folders below."""
    return {path.name for top in ("tools/bench", "tests/e2e/all") for kind in ("*.py", "*.sh")
            for path in (ROOT / top).rglob(kind)}


def names_command(text):
    for match in COMMAND.finditer(" ".join(text.split())):
        word = match[1]
        if word in PROGRAMS or word in scripts():
            return True
        if word.startswith(("tools/", "tests/", "docs/decisions/")) and (ROOT / word).is_file():
            return True
    return False


def read_list(path):
    """[(line number, page, sentence, command)]."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            if not found or found[-1][3]:
                sys.exit(f"{path.name}:{number}: a command of no sentence")
            found[-1][3] = line.strip()
            continue
        page, _, sentence = line.partition(": ")
        if "{}" not in sentence or not (ROOT / page).is_file():
            sys.exit(f"{path.name}:{number}: wanted 'PAGE: words with {{}} for a number'")
        found.append([number, page, sentence, ""])
    for number, _, sentence, command in found:
        if not command:
            sys.exit(f"{path.name}:{number}: no command for '{sentence}'")
    return found


def pattern_of(sentence):
    """Matches the sentence wherever its lines break."""
    parts = [r"\s+".join(re.escape(w) for w in part.split(" ")) for part in sentence.split("{}")]
    return re.compile(rf"({NUMBER})".join(parts), re.I)


def lacking_input(command):
    """What a command reads of the build or the system that is not there, or a log that is older than the tests."""
    program = ROOT / "build/release/bin/ge-test"
    for name in re.findall(r"(?<![\w./])(?:build|/usr)/[\w./\-]+", command):
        path = ROOT / name  # an absolute name stays one
        if not path.exists():
            return f"{name} is not there"
        if name.startswith("build/test-logs/") and program.exists() and path.stat().st_mtime < program.stat().st_mtime:
            return f"{name} is older than ge-test"
    return None


def counted(command):
    """(numbers that a command prints, what is wrong with it)."""
    env = {**os.environ, "PATH": f"{ROOT}/build/release/bin:{os.environ['PATH']}", "GE_CACHE_DIR": "off",
           "GE_PROBE": "fixed"}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=env, capture_output=True, text=True)
    numbers = done.stdout.split()
    if done.returncode != 0 or not all(re.fullmatch(r"[\d.]+", n) for n in numbers):
        return [], (done.stderr or done.stdout).strip()[-300:] or f"exit {done.returncode}"
    return [float(n) for n in numbers], None


def judge(entry, pages):
    """(verdict "passed", "failed" or "skipped"; words; (page, offsets) of what it covers)."""
    number, page, sentence, command = entry
    found = list(pattern_of(sentence).finditer(pages[page].text))
    at = f"{LIST.name}:{number}"
    if len(found) != 1:
        return "failed", f"{at}: '{sentence}' stands {len(found)} times in {page}, wanted once; repair the sentence " \
            "of the one that changed", None
    place = (page, found[0].span())
    if lacks := lacking_input(command):
        return "skipped", f"{at}: {lacks}", place
    numbers, wrong = counted(command)
    if wrong is not None or len(numbers) != sentence.count("{}"):
        return "failed", f"{at}: '{command}' should print {sentence.count('{}')} numbers: {wrong or numbers}", place
    if [value(w) for w in found[0].groups()] == numbers:
        return "passed", "", place
    wanted = " and ".join(f"{n:,g}" for n in numbers)
    return "failed", f"{page}:{pages[page].line_of(found[0].start())}: '{' '.join(found[0][0].split())}': counted " \
        f"{wanted}; write that, or repair what changed ({command})", place


def lacking(page, covered):
    """[(line, figure)] of figures that no command stands beside and the list does not name."""
    out = []
    starts = [0]
    for line in page.text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for index, (begin, text, kind) in enumerate(page.blocks):
        if kind != "text" or page.has_command(index):
            continue
        plain = re.sub(r"`[^`]*`", lambda m: re.sub(r"\S", "_", m[0]), text)
        for match in FIGURE.finditer(plain.replace("\n", " ")):
            offset = starts[begin - 1] + match.start()
            if not any(name == page.path and a <= offset < b for name, (a, b) in covered):
                out.append((page.line_of(offset), text[match.start():match.end()].replace("\n", " ")))
    return out


ROWS = "docs/figures.md"
DAY = re.compile(r"(?:before )?20\d\d-\d\d-\d\d")


def incomplete_rows(page):
    """[(line, words)] of rows figure | command | host | date that lack one of these."""
    out, tables = [], [(begin, text.split("\n")) for begin, text, kind in page.blocks
                       if kind == "text" and text.startswith("|")]
    cells = [[(begin + i, [c.strip() for c in line.strip("| ").split(" | ")])
              for i, line in enumerate(lines) if not line.startswith("|---")] for begin, lines in tables]
    hosts = {row[0] for table in cells if table[0][1][0] == "host" for _, row in table[1:]}
    for line, row in (r for table in cells if table[0][1][0] == "figure" for r in table[1:]):
        if len(row) != 4:
            out.append((line, f"{len(row)} cells, wanted figure, command, host and date"))
        elif not names_command(row[1]):
            out.append((line, f"no command of ours in '{row[1]}'"))
        elif row[2].split(",")[0] not in hosts:
            out.append((line, f"'{row[2]}' is no host of the page's table"))
        elif not DAY.fullmatch(row[3]):
            out.append((line, f"'{row[3]}' is no day"))
    return out


ROWS_WITH_FAULTS = """| host | is |
|---|---|
| Zen | a |

| figure | command | host | date |
|---|---|---|---|
| 3 ms | `ge run` | Zen |
| 3 ms | fast | Zen | 2026-11-01 |
| 3 ms | `ge run` | moon | 2026-11-01 |
| 3 ms | `ge run` | Zen | once |
| 3 ms | `ge run` | Zen, busy | 2026-11-01 |
"""


def planted():
    """What this program does not notice of faults on purpose."""
    text = "# A\n\nIt has 41 things, reads in 3 ms.\n\nForty-one more: 5 MB (`ge explain`).\n\n| a | 7 nodes |\n\n`ge run`\n"
    page = Page("planted", text)

    def of(sentence, command):
        return judge([0, "planted", sentence, command], {"planted": page})[0]
    cases = [
        ("the right number", of("has {} things", "echo 41"), "passed"),
        ("the right number in words", of("{} more", "echo 41"), "passed"),
        ("another number", of("has {} things", "echo 40"), "failed"),
        ("a sentence that is not there", of("had {} things", "echo 41"), "failed"),
        ("two numbers for one", of("has {} things", "echo 41 42"), "failed"),
        ("a command that fails", of("has {} things", "echo 41; false"), "failed"),
        ("a log that is not there", of("has {} things", "cat build/test-logs/none"), "skipped"),
        ("a figure without a command", [f for _, f in lacking(page, [])], ["3 ms"]),
        ("a figure that the list names", lacking(page, [("planted", (5, 40))]), []),
        ("rows that lack something", [line for line, _ in incomplete_rows(Page("planted", ROWS_WITH_FAULTS))],
         [7, 8, 9, 10]),
    ]
    return [f"{name}: {found} in place of {wanted}" for name, found, wanted in cases if found != wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=pathlib.Path, default=LIST, help="the list of what is counted")
    parser.add_argument("--only", help="pages whose path contains this")
    args = parser.parse_args()
    entries = [e for e in read_list(args.figures) if not args.only or args.only in e[1]]
    searched = ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").glob("*.md"))]
    made = {"docs/ops.md", "docs/passes.md"}  # by scripts, and not kept
    searched = [p for p in searched if p not in made and (not args.only or args.only in p)]
    pages = {path: Page(path) for path in {*searched, *(e[1] for e in entries)}}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    covered = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for verdict, words, place in pool.map(lambda e: judge(e, pages), entries):
            counts[verdict] += 1
            covered += [place] if place else []
            if words:
                print(f"{'FAILED  ' if verdict == 'failed' else 'skipped: '}{words}")
    for path in searched:
        left = lacking(pages[path], covered)
        for line, figure in left:
            print(f"FAILED  {path}:{line}: '{figure}' has no command beside it: name one in its paragraph, or count it "
                  f"in {LIST.relative_to(ROOT)}")
        counts["failed" if left else "passed"] += 1
    for line, words in incomplete_rows(pages[ROWS]) if ROWS in searched else []:
        print(f"FAILED  {ROWS}:{line}: {words}")
        counts["failed"] += 1
    wrong = planted()
    for words in wrong:
        print(f"FAILED  planted, {words}")
    counts["failed" if wrong else "passed"] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 0 if counts["failed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
