#!/usr/bin/env python3
"""Checks what the compiler does not: the arrows between folders, sizes, names, banned calls.

Reads the files that git tracks or would track. Needs Python and clang-format 14 alone. Prints each
fault as PATH:LINE: RULE: WORDS, the counts of files, and as its last line the counts of rules.
Exit codes: 0 clean, 1 faults, 2 bad arguments.

Examples:
  tools/lint/lint.py
  tools/lint/lint.py --rule rooms --rule function-lines
  tools/lint/lint.py --list
"""
import argparse
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import include_rules  # noqa: E402
import map_doc  # noqa: E402
import page_rules  # noqa: E402
import rooms as rooms_table  # noqa: E402
import source_text  # noqa: E402
import style_rules  # noqa: E402

CPP = (".h", ".hpp", ".cc", ".cpp", ".c")
HEADERS = (".h", ".hpp")
SOURCE = CPP + (".py", ".sh", ".cmake", ".proto", ".def")
LIBRARY = ("ge/", "frontend/", "passes/", "streams/", "plugins/", "sdk/")
# It misbehaves on request, so that containment can be tested.
MISBEHAVES = ("sdk/samples/faulty",)

FILE_LINES, FILE_LINES_AT_MOST, FUNCTION_LINES, FOLDER_FILES = 600, 1000, 60, 40
# Folders of whose file names a table is made: an operator, a kind or a case a file.
TABLES = (r"ge/ops/\w+|ge/control/host|frontend/onnx/adapt|passes/grad/rules|plugins/ref/kernels"
          r"|plugins/units/\w+|plugins/cpu/native/\w+|tools/ge_test/cases")
# What a vendor reads first: a whole plugin of each kind, as clang-format lays it out.
SAMPLE_LINES = {"sdk/samples/minimal/minimal.c": 120, "sdk/samples/op/op.c": 40,
                "sdk/samples/pass/square.c": 60}
TRACKED_BYTES = 1 << 20


class Tree:
    """The files of one checkout, read once. Paths are relative, with forward slashes."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if listed.returncode == 0:
            names = set(listed.stdout.decode(errors="replace").split("\0")) - {""}
        else:  # an unpacked archive: everything but the build
            names = {p.relative_to(root).as_posix() for p in self.root.rglob("*")
                     if not {"build", ".git", "__pycache__"} & set(p.relative_to(root).parts)}
        self.files = sorted(n for n in names if (self.root / n).is_file())
        self.known, self.texts = set(self.files), {}

    def exists(self, path):
        return os.path.normpath(path) in self.known

    def text(self, path):
        """The text of `path`, "" for a binary."""
        if path not in self.texts:
            data = (self.root / path).read_bytes()
            self.texts[path] = "" if b"\0" in data else data.decode(errors="replace")
        return self.texts[path]

    def named(self, *endings):
        return [f for f in self.files if f.endswith(endings)]

    def library(self):
        """C and C++ of the product, without its unit tests."""
        return [f for f in self.named(*CPP) if f.startswith(LIBRARY)
                and not f.endswith(include_rules.TESTS) and not f.startswith(MISBEHAVES)]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def unlisted_folders(tree, table):
    """Folders that hold sources and no line of rooms.txt, and those that it calls planned."""
    folders = {path.rpartition("/")[0] for path in tree.named(*CPP, ".py") if "/" in path}
    for folder in sorted(folders):
        room = table.of(folder)
        if room is None:
            yield folder, 0, "holds sources and stands in no line of rooms.txt"
        elif room.planned:
            yield folder, 0, f"holds sources; rooms.txt:{room.line} calls it planned"


def rooms(tree):
    """Every folder stands in rooms.txt, and includes what its line allows."""
    try:
        table = rooms_table.Rooms(tree.text(rooms_table.NAME))
    except ValueError as fault:
        yield rooms_table.NAME, 0, str(fault)
        return
    yield from unlisted_folders(tree, table)
    for path in tree.named(*CPP):
        for line, include in source_text.includes(tree.text(path)):
            words = include_rules.problem(path, include, tree.exists, table)
            if words:
                yield path, line, words


def folder_files(tree):
    """At most 40 sources side by side, unit tests apart, unless a table is made of their names."""
    counts = {}
    for path in tree.named(*CPP, ".py", ".sh"):
        if not path.endswith(include_rules.TESTS):
            folder = path.rpartition("/")[0]
            counts[folder] = counts.get(folder, 0) + 1
    for folder, count in sorted(counts.items()):
        if count > FOLDER_FILES and not re.fullmatch(TABLES, folder):
            yield folder, 0, f"{count} sources side by side, at most {FOLDER_FILES}; give it rooms"


def stale_map(tree):
    """docs/map.md is what tools/lint/map_doc.py makes of rooms.txt, plugins/units and docs/moved.txt."""
    try:
        moves = map_doc.moves(tree.text(map_doc.MOVED))
    except ValueError as fault:
        yield map_doc.MOVED, 0, str(fault)
        return
    try:
        units = {f: tree.text(f) for f in tree.named(".h", ".cc") if f.startswith(map_doc.UNITS)}
        page = map_doc.page(tree.text(rooms_table.NAME), tree.text(map_doc.MOVED), units)
    except ValueError:
        return  # the rule `rooms` says it
    if not tree.exists(map_doc.PAGE) or tree.text(map_doc.PAGE) != page:
        yield map_doc.PAGE, 0, "is stale; run: tools/lint/map_doc.py"
    for _, now in moves:
        for path in now:
            if not tree.exists(path) and not any(f.startswith(path + "/") for f in tree.files):
                yield map_doc.MOVED, 0, f"{path} is not there"


def file_lines(tree):
    """Sources over 1,000 lines; over 600 they are listed as a warning."""
    for path in tree.named(*SOURCE):
        lines = tree.text(path).count("\n")
        if lines > FILE_LINES_AT_MOST:
            yield path, lines, f"{lines} lines, at most {FILE_LINES_AT_MOST}; split the file"


def function_lines(tree):
    """Functions over 60 lines, opening brace to closing brace."""
    for path in tree.named(*CPP):
        for name, line, count in source_text.functions(tree.text(path)):
            if count > FUNCTION_LINES:
                yield path, line, f"{name} has {count} lines, at most {FUNCTION_LINES}; split it"
    for path in tree.named(".py"):
        for node in ast.walk(ast.parse(tree.text(path), path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                count = node.end_lineno - node.lineno + 1
                if count > FUNCTION_LINES:
                    yield (path, node.lineno,
                           f"{node.name} has {count} lines, at most {FUNCTION_LINES}; split it")


def sample_lines(tree):
    """The smallest samples keep their sizes, and no macro hides code in them."""
    if not tree.exists("sdk/samples/CMakeLists.txt"):
        return
    for path, most in SAMPLE_LINES.items():
        if not tree.exists(path):
            yield path, 0, "is not there; SAMPLE_LINES in tools/lint/lint.py names it"
            continue
        lines = tree.text(path).splitlines()
        if len(lines) > most:
            yield path, len(lines), f"{len(lines)} lines, at most {most}: it shows how little it takes"
        for i, line in enumerate(lines, 1):
            if re.match(r"\s*#\s*define\b", line):
                yield path, i, "a sample has no macros: it shows what is written"


ENDS_PROCESS = "the library never ends the process; return a Status"
BANNED = [  # (where, pattern, why)
    (LIBRARY, r"(?:std::|::)?(?:abort|_?exit|_Exit|quick_exit|terminate)\s*\(", ENDS_PROCESS),
    (LIBRARY, r"assert\s*\(", ENDS_PROCESS),
    (LIBRARY, r"(?:std::|::)?s?rand\s*\(", "use a seeded generator"),
    (LIBRARY, r"(?:std::|::)?(?:strcpy|strcat|v?sprintf|gets)\s*\(", "it writes without a bound"),
    (LIBRARY, r"(?:std::|::)?system\s*\(", "no shell from a library"),
    (("ge/", "frontend/", "passes/", "streams/"),
     r"(?:std::cout\b|(?:std::|::)?(?:printf|puts)\s*\()", "stdout belongs to the tools"),
    (("ge/", "frontend/", "passes/", "streams/", "sdk/"), r"throw\b",
     "no exception crosses a folder; return a Status"),
]


def banned_calls(tree):
    """Calls that a library must not make."""
    rules = [(where, re.compile(r"(?<![\w.:>~])" + pattern), why) for where, pattern, why in BANNED]
    for path in tree.library():
        code = source_text.code_of(tree.text(path))
        for where, pattern, why in rules:
            # The C++ sugar is compiled into programs, which may use exceptions; a plugin may, too, as
            # long as none leaves it.
            sugar = path.startswith("sdk/include/") and path.endswith(".hpp")
            plugin = pattern.pattern.endswith(r"throw\b") and path.startswith(
                ("passes/grad/", "passes/kit/", "passes/data/", "passes/parallel/"))
            if path.startswith(where) and not sugar and not plugin:
                for match in pattern.finditer(code):
                    call = match.group().rstrip("( ")
                    yield path, line_of(code, match.start()), f"{call}: {why}"


REGISTRY = re.compile(
    r"__attribute__\s*\(\(\s*constructor|\[\[\s*gnu::constructor|^\s*REGISTER_[A-Z0-9_]*\s*\("
    r"|^\s*(?:static|inline|const)\s[\w\s:]*\bregist(?:ered|rar|rant)\w*\s*[={(]"
    r"|^\s*(?:static\s+)?(?:const\s+)?[\w:]*Regist(?:er|rar|ration)\s+\w+\s*[({=]",
    re.MULTILINE)


def static_registries(tree):
    """Registration by static constructors; tables are generated and name each symbol."""
    for path in tree.library():
        code = source_text.code_of(tree.text(path))
        for match in REGISTRY.finditer(code):
            words = " ".join(match.group().split())[:40]
            yield path, line_of(code, match.start()), f"{words}: no registry by static constructors"


BANNED_WORDS = {"util", "utils", "utility", "utilities", "misc", "common", "helper", "helpers",
                "manager", "managers"}


def file_names(tree):
    """lower_snake names for C and C++, and no name that says nothing."""
    for path in tree.files:
        for word in re.split(r"[^a-z]+", path.lower()):
            if word in BANNED_WORDS:
                yield path, 0, f"the name says '{word}'; name what the file holds"
    for path in tree.named(*CPP):
        # A gradient rule is named after its operator.
        name = path.rsplit("/", 1)[-1]
        if not re.fullmatch(r"[a-z0-9_]+\.\w+", name) and not path.startswith("passes/grad/rules/"):
            yield path, 0, f"{name} is not lower_snake"


def header_comments(tree):
    """A header begins with a comment: what it is, what it is not, who owns, which threads."""
    for path in tree.named(*HEADERS):
        if not re.match(r"\s*(?://|/\*)", tree.text(path)):
            yield path, 1, "begins with no comment that says what it is"


# In two parts, so that the rule does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.\-*)}\]])/(?:work|tmp|home|root|Users)" + r"/\w[\w./-]*")


def machine_paths(tree):
    """Absolute paths of one machine."""
    for path in tree.files:
        if path != "LICENSE":
            for match in MACHINE_PATH.finditer(tree.text(path)):
                words = f"{match.group()}: a path of one machine"
                yield path, line_of(tree.text(path), match.start()), words


GENERATED = re.compile(r"\.(?:pb\.(?:h|cc)|pyc|o|obj|a|so(?:\.\d+)*|gcda|gcno|d)$"
                       r"|(?:^|/)(?:__pycache__|CMakeFiles|CMakeCache\.txt|compile_commands\.json"
                       r"|build\.ninja)(?:/|$)|^build/")
SAYS_GENERATED = re.compile(r"\b(?:@generated\b|DO NOT EDIT\b|[Gg]enerated by .*[Dd]o not edit)")
# The golden layout is the ABI's contract, the frozen engines are its museum.
MAY_BE_GENERATED = ("tests/abi/",)


def generated_files(tree):
    """What a tool makes belongs in the build folder."""
    for path in tree.files:
        if path.startswith(MAY_BE_GENERATED):
            continue
        if GENERATED.search(path):
            yield path, 0, "is generated; keep it in build/"
        elif path.endswith(SOURCE) and SAYS_GENERATED.search(
                "\n".join(tree.text(path).splitlines()[:5])) and not path.startswith("tools/"):
            yield path, 1, "says that it is generated; keep it in build/"


def large_files(tree):
    """Models and other big files are fetched (tools/bench/models.py), never kept."""
    for path in tree.files:
        size = (tree.root / path).stat().st_size
        if size > TRACKED_BYTES:
            yield path, 0, f"{size} bytes, at most {TRACKED_BYTES}; fetch it at need"


def clang_format():
    """The path of clang-format 14, or None."""
    for name in ("clang-format-14", "clang-format"):
        found = shutil.which(name)
        if found and " 14." in subprocess.run([found, "--version"], stdout=subprocess.PIPE,
                                              text=True).stdout:
            return found
    return None


def formatting(tree):
    """C and C++ as clang-format 14 lays it out."""
    tool, files = clang_format(), tree.named(*CPP)
    if tool is None:
        yield ".clang-format", 0, "clang-format 14 not found; run: tools/setup/install.sh test"
        return
    for i in range(0, len(files), 50):
        done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", *files[i:i + 50]],
                              cwd=tree.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, errors="replace")
        seen = set()
        for match in re.finditer(r"^(\S+?):(\d+):\d+: error: ", done.stderr, re.MULTILINE):
            if match.group(1) not in seen:
                seen.add(match.group(1))
                fix = "run: clang-format-14 -i " + match.group(1)
                yield match.group(1), int(match.group(2)), fix
        if done.returncode and not seen:
            yield ".clang-format", 0, done.stderr.strip().splitlines()[0]


RULES = {
    "rooms": rooms,
    "folder-files": folder_files,
    "map": stale_map,
    "file-lines": file_lines,
    "function-lines": function_lines,
    "sample-lines": sample_lines,
    "banned-calls": banned_calls,
    "static-registries": static_registries,
    "file-names": file_names,
    "header-comments": header_comments,
    "machine-paths": machine_paths,
    "generated-files": generated_files,
    "large-files": large_files,
    "formatting": formatting,
    **page_rules.RULES,
    **style_rules.RULES,
}


def warn_of_long_files(tree):
    for path in tree.named(*SOURCE):
        lines = tree.text(path).count("\n")
        if FILE_LINES < lines <= FILE_LINES_AT_MOST:
            print(f"{path}: warning: {lines} lines, better under {FILE_LINES}")


def check(tree, names):
    """Prints the faults of the rules `names`; returns how many rules found any."""
    bad = 0
    for name in names:
        faults = list(RULES[name](tree))
        for path, line, words in faults:
            print(f"{path}:{line}: {name}: {words}" if line else f"{path}: {name}: {words}")
        if faults:
            print(f"{name}: {len(faults)} fault(s)")
        bad += bool(faults)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, help="another checkout (default: this one)",
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--rule", action="append", choices=list(RULES), help="may be repeated")
    parser.add_argument("--list", action="store_true", help="print the rules and end")
    args = parser.parse_args()
    if args.list:
        for name, rule in RULES.items():
            print(f"{name:<18} {rule.__doc__.strip().splitlines()[0]}")
        return 0
    tree, names = Tree(args.root), args.rule or list(RULES)
    bad = check(tree, names)
    warn_of_long_files(tree)
    print(f"{len(tree.files)} files, {len(tree.named(*CPP))} of C and C++, "
          f"{sum(tree.text(f).count(chr(10)) for f in tree.named(*CPP))} lines")
    print(f"{len(names) - bad} passed, {bad} failed, 0 skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
