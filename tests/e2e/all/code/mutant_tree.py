"""The tree of mutants, build/mutants: what build/release compiled and linked, with the files that are mutated
compiled again from copies in which each drawn place is guarded. A place whose change does not compile is
dropped and another one drawn. Nothing in build/release is written."""
import concurrent.futures
import functools
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import mutants

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools/lint"))

import rooms  # noqa: E402

TREE = ROOT / "build" / "mutants"
BUILD = TREE / "build" / "release"
RELEASE = ROOT / "build" / "release"
GUARDED = TREE / "guarded"  # the changed sources
OBJECTS = TREE / "objects"  # of them, by what they were compiled from
STATE = TREE / "state"  # what outlives a run: dropped places, verdicts
DROPPED = STATE / "dropped.json"
NUMBERS = STATE / "numbers.json"  # the place of each path in the order of numbers
TARGETS = ["ref", "native", "onednn", "openblas", "grad", "graphengine_image", "simdev", "ge-test", "ge-unit",
           "ge-unit-cpu", "ge-unit-device", "ge-shardcheck", "ge", "graphengine"]
FOLDERS = rooms.read(ROOT).mutated()  # in the order of the table
# The library's own checks of indices and optionals, as asan builds have them: a read behind the end ends the program.
CHECKED = ["-D_GLIBCXX_ASSERTIONS"]
SOURCES = ["ge", "frontend", "passes", "streams", "plugins", "tools", "tests", "sdk", "examples"]
# Files of one instruction set, by a word of their names, and the word of /proc/cpuinfo that a processor needs for them.
SETS = {"avx512": "avx512bw", "vnni": "avx512_vnni"}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


class Mutant:
    def __init__(self, number, path, place, content):
        self.number, self.path, self.place = number, path, place
        self.content = content  # a digest of the file
        self.lines = None  # of the path that the place covers

    @property
    def key(self):
        return f"{self.path}: {self.place.key}"

    def __str__(self):
        return f"{self.path}:{self.place.line}: {self.place.becomes} in '{self.place.was}'"


@functools.lru_cache(maxsize=None)
def processor():
    return set(pathlib.Path("/proc/cpuinfo").read_text().split())


def runs_here(name):
    """Whether this processor has the instructions that a file of the CPU's engines is about."""
    words = name.rsplit("/", 1)[-1]
    return not name.startswith("plugins/cpu") or all(flag in processor() for word, flag in SETS.items() if word in words)


def sources():
    """Files that have mutants: of FOLDERS, no tests, none for instructions that the processor lacks. A header only
    where no other source includes it, since all others are linked as build/release compiled them."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for top in SOURCES for path in (ROOT / top).rglob("*")
             if path.suffix in (".cc", ".h")}
    inside = [n for n in texts if n.rsplit("/", 1)[0] in FOLDERS and "gtest/" not in texts[n]
              and not n.endswith(("_test.cc", "_testing.h")) and runs_here(n)]
    shared, todo = set(), [n for n in texts if n not in inside]
    while todo:
        for header in INCLUDE.findall(texts.get(todo.pop(), "")):
            if header not in shared:
                shared.add(header)
                todo.append(header)
    order = {folder: i for i, folder in enumerate(FOLDERS)}
    return sorted((n for n in inside if n not in shared), key=lambda n: (order[n.rsplit("/", 1)[0]], n))


def places_of(paths):
    """{path: its place}, the one that it had in earlier runs: a new file moves no other's numbers, so that what was
    compiled of them stays what it is."""
    known = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    new = [path for path in paths if path not in known]
    known |= {path: len(known) + i for i, path in enumerate(new)}
    if new and STATE.exists():
        NUMBERS.write_text(json.dumps(known, indent=0))
    return known


def draw(seed, count, dropped, only):
    """The mutants of a seed in files whose path holds a word of `only`. Numbers count within a file's own, so that
    another draw in one file leaves those of others, and what was compiled of them, as they are."""
    found, paths = [], sources()
    place = places_of(paths)
    for path in paths:
        if only and not any(word in path for word in only):
            continue
        text = (ROOT / path).read_text()
        drawn = mutants.drawn(text, f"{seed}:{path}", count, set(dropped.get(path, [])))
        content = hashlib.sha256(text.encode()).hexdigest()[:16]
        for i, change in enumerate(drawn):
            mutant = Mutant(1 + place[path] * count + i, path, change, content)
            mutant.lines = range(change.line, change.line + text.count("\n", change.start, change.end) + 1)
            found.append(mutant)
    return found


def in_turns(drawn, seed):
    """The mutants in an order of which every beginning is a fair sample: as large a part of each folder."""
    dice, groups = random.Random(f"{seed}:turns"), {}
    for mutant in drawn:
        groups.setdefault(mutant.path.rsplit("/", 1)[0], []).append(mutant)
    placed = []
    for group in groups.values():
        dice.shuffle(group)
        begin = dice.random()
        placed += [((i + begin) / len(group), mutant) for i, mutant in enumerate(group)]
    return [mutant for _, mutant in sorted(placed, key=lambda at: (at[0], at[1].number))]


def sample(drawn, seed, count):
    """`count` of the mutants that were drawn, all where there are no more. Folders take turns, the smallest first, so
    that one with three files has as many as one with three hundred for as long as it has any."""
    dice, groups = random.Random(f"{seed}:sample"), {}
    for mutant in drawn:
        groups.setdefault(mutant.path.rsplit("/", 1)[0], []).append(mutant)
    for group in groups.values():
        dice.shuffle(group)
    turns = sorted(groups.values(), key=len)
    chosen = [m for row in itertools.zip_longest(*turns) for m in row if m is not None]
    return sorted(chosen[:count], key=lambda m: m.number)


@functools.lru_cache(maxsize=None)
def headers(name):
    """What a file of the checkout includes of it."""
    path = ROOT / name
    return INCLUDE.findall(path.read_text()) if path.exists() else []


def included(files):
    """The files, and whatever of the checkout they include."""
    found, todo = set(), list(files)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += headers(name)
    return found


class Unit:
    """One call of the compiler in build/release: a file, or several at once."""

    def __init__(self, words):
        self.words = words
        self.source = words[words.index("-c") + 1]
        self.object = words[words.index("-o") + 1]
        self.text = pathlib.Path(self.source).read_text() if "/Unity/" in self.source else f'#include "{self.source}"\n'
        self.files = [str(pathlib.Path(f).relative_to(ROOT)) for f in re.findall(r'^#include "(/.*)"', self.text, re.M)
                      if pathlib.Path(f).is_relative_to(ROOT)]

    def wanted(self, guarded):
        return any(f in guarded for f in self.files)

    def source_text(self, guarded):
        text = self.text
        for name in self.files:
            if name in guarded:
                text = text.replace(f'"{ROOT / name}"', f'"{GUARDED / name}"')
        return text

    def digest(self, guarded):
        """Of what it is compiled from that can differ: the guarded files, and the object that it replaces. By its bytes,
        not its time: a build that comes to the same object leaves what was compiled here."""
        state = hashlib.sha256(" ".join([*self.words, *CHECKED]).encode())
        state.update((RELEASE / self.object).read_bytes())
        for name in sorted(included(self.files) & set(guarded)):
            state.update((GUARDED / name).read_bytes())
        state.update((ROOT / "tests/e2e/all/code/mutants.h").read_bytes())
        return state.hexdigest()[:24]

    def command(self, source, folder, to):
        """The compiler's words for `source`, which finds guarded files in `folder`."""
        words = [w for w in self.words if w != "-MD"]
        for flag in ("-MT", "-MF"):
            if flag in words:
                del words[words.index(flag):words.index(flag) + 2]
        words[words.index("-c") + 1], words[words.index("-o") + 1] = str(source), str(to)
        words.insert(next(i for i, w in enumerate(words) if w.startswith("-I")), f"-I{folder}")
        return ["-O1" if w == "-O2" else w for w in words] + [*CHECKED, "-iquote", str((ROOT / self.files[0]).parent), "-w"]

    def compile(self, guarded):
        """None, or what the compiler said."""
        kept = OBJECTS / f"{self.digest(guarded)}.o"
        if kept.exists():
            return None
        source = kept.with_suffix(".cxx")
        source.write_text(self.source_text(guarded))
        part = kept.with_suffix(".part")
        done = subprocess.run(self.command(source, GUARDED, part), cwd=BUILD, capture_output=True, text=True)
        if done.returncode == 0:
            part.replace(kept)
        return None if done.returncode == 0 else done.stderr

    def takes(self, mutant):
        """Whether it compiles with this mutant and no other; nothing is made."""
        with tempfile.TemporaryDirectory(dir=STATE) as folder:
            at = pathlib.Path(folder) / mutant.path
            at.parent.mkdir(parents=True)
            at.write_text(mutants.guarded((ROOT / mutant.path).read_text(), [(mutant.number, mutant.place)]))
            # Of several files that are compiled at once the mutant's alone, where it is no header.
            own = mutant.path in self.files
            source = pathlib.Path(folder) / "unit.cxx"
            source.write_text(f'#include "{at}"\n' if own else self.text)
            words = self.command(source, folder, "/dev/null") + ["-fsyntax-only", "-iquote", str((ROOT / mutant.path).parent)]
            return subprocess.run(words, cwd=BUILD, capture_output=True).returncode == 0


def commands():
    """What build/release runs to make the targets: (compilations, links in their order)."""
    out = subprocess.run(["ninja", "-C", str(RELEASE), "-t", "commands", *TARGETS], check=True, capture_output=True,
                         text=True).stdout
    compiled, links = [], []
    for line in out.splitlines():
        words = shlex.split(line.split(" && ")[0].lstrip(": "))
        if "-c" in words and words[words.index("-c") + 1].endswith((".cc", ".cxx")):
            compiled.append(Unit(words))
        elif line.startswith(": && "):
            links.append(line)
    return compiled, links


def named_in(text, drawn):
    """Mutants at lines that the compiler's words name, or as whose number a template of mutants.h was made."""
    numbers = {int(n) for n in re.findall(r"\bint N = (\d+)", text)}
    found = [m for m in drawn if m.number in numbers]
    for path, line in re.findall(r"/guarded/([\w./\-]+\.(?:cc|h)):(\d+)", text):
        found += [m for m in drawn if m.path == path and int(line) in m.lines]
    return found


def guilty(log, drawn):
    """(mutants that errors are about, mutants of files that errors are about and nothing more is said). An error's
    block is what leads up to it ('required from here') and what explains it: its own line counts first, then its
    block, then its file."""
    text = re.sub(r"\x1b\[[0-9;]*[mK]", "", log)
    blocks, has_error = [[]], False
    for line in text.splitlines():
        begins = ": error: " in line or re.search(r": In (instantiation|substitution|member|function|lambda|constructor)",
                                                  line)
        if begins and has_error:
            blocks.append([])
            has_error = False
        blocks[-1].append(line)
        has_error = has_error or ": error: " in line
    found, suspects = [], []
    for block in blocks:
        own = "\n".join(line for line in block if ": error: " in line)
        if own:
            files = re.findall(r"/guarded/([\w./\-]+\.(?:cc|h)):", "\n".join(block))
            named = named_in(own, drawn) or named_in("\n".join(block), drawn)
            found += named
            suspects += [] if named else [m for m in drawn if m.path in files]
    return found, suspects


def bad_of(unit, log, drawn, jobs):
    """The mutants that keep a unit from compiling: those that the compiler names, else those that it does not take by
    themselves, of the files that it names or of all that are in the unit."""
    named, suspects = guilty(log, drawn.mutants)
    if named:
        return named
    within = included(unit.files)
    suspects = list(dict.fromkeys(suspects)) or [m for m in drawn.mutants if m.path in within]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        taken = list(pool.map(unit.takes, suspects))
    return [m for m, ok in zip(suspects, taken) if not ok] or suspects


class Draw:
    """The mutants of a seed, and the guarded files with them."""

    def __init__(self, seed, count, only, some=None):
        self.seed, self.count, self.only = seed, count, only
        self.dropped = json.loads(DROPPED.read_text()) if DROPPED.exists() else {}
        # Those of a sample are chosen once: another place that is drawn in a file takes its number.
        self.numbers = None
        if some is not None:
            self.numbers = {m.number for m in sample(draw(seed, count, {}, only), seed, some)}
        self.again()

    def again(self):
        """Draws, and writes what differs from before."""
        self.mutants = draw(self.seed, self.count, self.dropped, self.only)
        if self.numbers is not None:
            self.mutants = [m for m in self.mutants if m.number in self.numbers]
        of = {}
        for m in self.mutants:
            of.setdefault(m.path, []).append((m.number, m.place))
        self.files = sorted({m.path for m in self.mutants})
        for old in GUARDED.rglob("*.*"):
            if old.is_file() and old.relative_to(GUARDED).as_posix() not in self.files:
                old.unlink()
        for path in self.files:
            text = mutants.guarded((ROOT / path).read_text(), of[path])
            (GUARDED / path).parent.mkdir(parents=True, exist_ok=True)
            if not (GUARDED / path).exists() or (GUARDED / path).read_text() != text:
                (GUARDED / path).write_text(text)

    def drop(self, bad):
        for m in bad:
            if m.place.key not in self.dropped.setdefault(m.path, []):
                self.dropped[m.path].append(m.place.key)
        DROPPED.write_text(json.dumps(self.dropped, indent=1))


def compile_all(drawn, units, jobs):
    """Compiles until all do. Those that do not are drawn again."""
    while True:
        wrong = []
        todo = [u for u in units if u.wanted(drawn.files)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            pending = {pool.submit(u.compile, drawn.files): u for u in todo}
            for i, future in enumerate(concurrent.futures.as_completed(pending), 1):
                if future.result() is not None:
                    wrong.append((pending[future], future.result()))
                if i % 10 == 0:
                    print(f"  {i} of {len(todo)} compilations", flush=True)
        if not wrong:
            return todo
        bad = []
        for unit, log in wrong:
            blamed = bad_of(unit, log, drawn, jobs)
            if not blamed:
                sys.exit(f"mutate: {unit.object} does not compile, and no mutant is to blame\n{log[-3000:]}")
            bad += blamed
        drawn.drop(bad)
        drawn.again()
        print(f"{len({m.number for m in bad})} changes do not compile; others are drawn in their place", flush=True)


def lay_out():
    """The tree as a checkout whose build/release is a copy, by links, of ours. The tests are copied, so that they
    stay what the baseline ran while somebody works on them."""
    for folder in (GUARDED, OBJECTS, STATE, BUILD.parent):
        folder.mkdir(parents=True, exist_ok=True)
    for entry in ROOT.iterdir():
        link = TREE / entry.name
        if entry.name not in ("build", "tests", ".git", GUARDED.name, OBJECTS.name, STATE.name) and not link.is_symlink():
            link.symlink_to(entry)
    shutil.rmtree(TREE / "tests", ignore_errors=True)
    shutil.copytree(ROOT / "tests", TREE / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("venv", "node-tests", "models"):
        if (ROOT / "build" / name).exists() and not (BUILD.parent / name).is_symlink():
            (BUILD.parent / name).symlink_to(ROOT / "build" / name)
    shutil.rmtree(BUILD, ignore_errors=True)
    subprocess.run(["cp", "-al", str(RELEASE), str(BUILD)], check=True)


def link_all(units, files, links):
    for unit in units:
        at = BUILD / unit.object
        at.unlink()
        os.link(OBJECTS / f"{unit.digest(files)}.o", at)
        # A mutant that is not in the programs would count as one that no test reaches.
        if b"ge_mutants" not in at.read_bytes():
            sys.exit(f"mutate: {unit.object} holds no guard; remove {OBJECTS.name} and {STATE.name} and begin anew")
    within = {f for unit in units for f in included(unit.files)}
    if lost := [f for f in files if f not in within]:
        sys.exit(f"mutate: no compilation of build/release takes {', '.join(lost)}; ./test builds it anew")
    for line in links:
        found = re.search(r" (?:-o|qc) (\S+)", line)
        if found and (BUILD / found[1]).exists():
            (BUILD / found[1]).unlink()  # a link to build/release's own
        subprocess.run(line, shell=True, cwd=BUILD, check=True, stdout=subprocess.DEVNULL)


def build(seed, count, jobs, only, some=None):
    """The mutants of a seed, or `some` of them, compiled and linked."""
    if not (RELEASE / "bin" / "ge-test").exists():
        sys.exit("mutate: build/release/bin/ge-test is missing; ./test builds it")
    lay_out()
    drawn = Draw(seed, count, only, some)
    units, links = commands()
    link_all(compile_all(drawn, units, jobs), drawn.files, links)
    return drawn.mutants
