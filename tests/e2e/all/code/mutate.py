#!/usr/bin/env python3
"""Mutation check: changes the product in some places of each file, and asks whether a test notices.

The places are drawn by seed: a comparison, an operand, a statement, a number, an element type. All of
them are compiled at once into build/mutants, each behind a guard (mutants.h), and a mutant is switched
on by GE_MUTANT. With none switched on every test must pass: that is the baseline, which also notes
which mutants each test reaches. A mutant then runs under the tests that reach it, until one notices: by
failing, by a crash, or by a time-out, each a verdict of its own. A time-out counts since its limit is
twenty times what the baseline took. First what noticed others of the same file, then tests that are
quick and reach few mutants, and so are about these. Those that change nothing that could be
told are in mutants_equal.txt, each with its argument.

A line for each mutant that nothing noticed, a table of folders, and the counts: it fails below 95 %.
The tests are those of ./test: unit tests one by one, the text cases by file, ONNX's node tests and
random cases by operator, random models, and quick scripts of tests/e2e; with --scripts slow ones, too.

Verdicts are kept in build/mutants/state, each for as long as its mutant's file stays what it is: a
sweep that was stopped, by --seconds or by a signal, is gone on with by the same command, and says how
many are left. The order is such that what has been judged is a fair sample of the folders.

--sample N judges N of the mutants, drawn by the same seed, as many of each folder while there are any;
the verdict is then of these alone, and is kept apart.

Examples:
  tests/e2e/all/code/mutate.py --scripts           # all of them: hours
  tests/e2e/all/code/mutate.py --scripts --jobs 1 --seconds 1800   # half an hour of it
  tests/e2e/all/code/mutate.py --sample 12 -v
  tests/e2e/all/code/mutate.py --only plugins/cpu/native -v
  tests/e2e/all/code/mutate.py --rough --quick     # first what needs no long baseline
  tests/e2e/all/code/mutate.py --again --scripts   # then what earlier runs have not noticed
  tests/e2e/all/code/mutate.py --list
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import mutant_tests  # noqa: E402
import mutant_tree  # noqa: E402

EQUAL = pathlib.Path(__file__).with_name("mutants_equal.txt")
RESULTS = mutant_tree.STATE / "results.json"
SAMPLE_RESULTS = mutant_tree.STATE / "results_sample.json"  # those of a whole sweep are dear
SHARES = pathlib.Path(__file__).with_name("mutants_found.txt")
BAR = 0.95
GOOD = ("noticed", "crashed", "timed out")
# Of tests, as the baseline took them, that a mutant gets, in seconds: first all of them a few, then those that are
# left more.
PASSES = [(0, 6), (6, 20), (20, 80)]


def read_equal():
    """{key: argument}. A mutant's key stands at the start of a line, its argument indented below."""
    found, key = {}, None
    for number, line in enumerate(EQUAL.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            key = line.strip()
            if key in found:
                sys.exit(f"{EQUAL.name}:{number}: '{key}' a second time")
            found[key] = ""
        elif key is None:
            sys.exit(f"{EQUAL.name}:{number}: an argument of no mutant")
        else:
            found[key] = (found[key] + " " + line.strip()).strip()
    for key, argument in found.items():
        if not argument:
            sys.exit(f"{EQUAL.name}: no argument for '{key}'")
    return found


def judge(mutant, tests, span, favourites):
    """(verdict, by what, its parts, processor seconds) of a mutant under the tests that reach it, those that lie in
    `span`, seconds of them. Parts that noticed others of the file come first."""
    spent, (first, last) = 0.0, span
    batches = tests.batches(mutant, first, last)
    known = [p for p in favourites.of(mutant) if p.reaches(mutant)] if first == 0 else []
    for batch in [*(mutant_tests.Batch([p]) for p in known), *batches]:
        outcome, seconds = batch.run({"GE_MUTANT": str(mutant.number), "GTEST_FAIL_FAST": "1"})
        spent += seconds
        if outcome == "timed out":
            return "timed out", batch.name, batch.parts, spent
        if outcome < 0:
            return "crashed", f"{batch.name}, signal {-outcome}", batch.parts, spent
        if outcome != 0:
            return "noticed", batch.name, batch.parts, spent
    count = sum(len(b.parts) for b in tests.batches(mutant, 0, last))
    by = f"{count} tests that reach it" if count else "anything: no test reaches it"
    return "not noticed", by, [], spent


class Favourites:
    """Parts that noticed mutants of a file, the last three that take no more than some seconds."""

    def __init__(self):
        self.found = collections.defaultdict(list)

    def of(self, mutant):
        return list(self.found[mutant.path])

    def add(self, mutant, parts):
        if len(parts) == 1 and parts[0].seconds <= mutant_tests.BATCH_SECONDS:
            others = [p for p in self.found[mutant.path] if p is not parts[0]]
            self.found[mutant.path] = [parts[0], *others][:3]


class Results:
    """[verdict, by what, digest of the file, last pass] by key, kept in a file so that a sweep can be gone on with."""

    def __init__(self, path, fresh):
        self.path, self.found, self.written = path, {}, time.monotonic()
        if path.exists() and not fresh:
            self.found = json.loads(path.read_text())

    def get(self, mutant):
        """None where it was not judged, or was in another state of its file."""
        kept = self.found.get(mutant.key)
        return kept if kept and kept[2] == mutant.content else None

    def put(self, mutant, verdict, by, number):
        self.found[mutant.key] = [verdict, by, mutant.content, number]
        if time.monotonic() - self.written > 5:
            self.write()

    def write(self):
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.found, indent=0))
        part.replace(self.path)
        self.written = time.monotonic()


def left_for(number, wanted, results, again):
    """Mutants that a pass has not seen yet: those that were not judged, or that no earlier pass noticed."""
    kept = [(m, results.get(m)) for m in wanted]
    if number == 0:
        return [m for m, r in kept if r is None or (r[0] == "not noticed" and again)]
    return [m for m, r in kept if r is not None and r[0] == "not noticed" and r[3] < number]


def sweep(wanted, tests, results, args):
    """Judges each mutant of `wanted`, first those that are quickly noticed; processor seconds and how many."""
    begin, spent, done, favourites = time.monotonic(), 0.0, 0, Favourites()
    for number, span in enumerate(PASSES[:1] if args.quick else PASSES):
        left = left_for(number, wanted, results, args.again)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            pending = {pool.submit(judge, m, tests, span, favourites): m for m in left}
            for i, future in enumerate(concurrent.futures.as_completed(pending), 1):
                mutant = pending[future]
                try:
                    verdict, by, parts, seconds = future.result()
                except mutant_tests.Stopped:
                    break
                favourites.add(mutant, parts)
                results.put(mutant, verdict, by, number)
                spent, done = spent + seconds, done + 1
                if args.v:
                    print(f"{verdict} by {by}: {mutant}, {seconds:.1f} s", flush=True)
                if i % 50 == 0:
                    print(f"  {i} of {len(left)}, {spent:.0f} processor seconds", flush=True)
                if args.seconds and time.monotonic() - begin > args.seconds:
                    mutant_tests.STOP.set()
                if mutant_tests.STOP.is_set():
                    break
            pool.shutdown(wait=False, cancel_futures=True)
        if mutant_tests.STOP.is_set():
            break
    results.write()
    tests.kept.write()
    print(f"{done} judgements, {spent:.0f} processor seconds, {spent / max(done, 1):.1f} each")


def table(judged, equal):
    """{folder: Counter of verdicts}."""
    rows = collections.defaultdict(collections.Counter)
    for mutant, (verdict, *_) in judged:
        if verdict == "not noticed" and mutant.key in equal:
            verdict = "equal"
        rows[mutant.path.rsplit("/", 1)[0]][verdict] += 1
    return rows


def share(row):
    """Of the mutants that could be noticed, those that were."""
    good, all_of_them = sum(row[v] for v in GOOD), sum(row.values()) - row["equal"]
    return good / all_of_them if all_of_them else 1.0


def report(judged, equal, seed, drawn):
    rows = table(judged, equal)
    for mutant, (verdict, by, *_) in judged:
        if verdict == "not noticed" and mutant.key not in equal:
            print(f"NOT NOTICED  {mutant}: {by}")
        elif verdict != "not noticed" and mutant.key in equal:
            print(f"{EQUAL.name} calls equal what {by} noticed: {mutant}")
    total = collections.Counter()
    lines = ["folder mutants noticed crashed timed_out equal not_noticed share"]
    for folder in mutant_tree.FOLDERS:
        if folder not in rows:
            continue
        row = rows[folder]
        total.update(row)
        lines.append(f"{folder} {sum(row.values())} {row['noticed']} {row['crashed']} {row['timed out']} {row['equal']} "
                     f"{row['not noticed']} {share(row):.3f}")
    lines.append(f"all {sum(total.values())} {total['noticed']} {total['crashed']} {total['timed out']} {total['equal']} "
                 f"{total['not noticed']} {share(total):.3f}")
    for line in lines:
        words = line.split()
        print(f"{words[0]:24}" + "".join(f"{w:>12}" for w in words[1:]))
    return total, [f"# Written by mutate.py --write, seed {seed}, {len(judged)} of {drawn} judged; "
                   "read by tools/gen/testing_doc.py", *lines]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the places that are drawn")
    parser.add_argument("--count", type=int, default=3, help="mutants of a file")
    parser.add_argument("--sample", type=int, metavar="N", help="judge N of them, evenly over folders")
    parser.add_argument("--only", action="append", help="files whose path contains this; may be repeated")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--again", action="store_true", help="judge again what was not noticed")
    parser.add_argument("--fresh", action="store_true", help="forget earlier verdicts")
    parser.add_argument("--seconds", type=float, metavar="N", help="stop after N, not counting the baseline")
    parser.add_argument("--quick", action="store_true", help="the first pass alone: some seconds of tests a mutant")
    parser.add_argument("--rough", action="store_true", help="of steps by operator those of a mutant's own: what is left needs --again")
    parser.add_argument("--scripts", action="store_true", help="also scripts of tests/e2e that take long")
    parser.add_argument("--write", action="store_true", help=f"write the table to {SHARES.name}")
    parser.add_argument("--list", action="store_true", help="print the mutants and end")
    parser.add_argument("-v", action="store_true", help="name each mutant and what noticed it")
    args = parser.parse_args()
    if args.sample is not None and (args.write or args.sample < 1):
        parser.error("--sample takes at least 1, and no --write: the table is that of all mutants")
    return args


def main():
    args = arguments()
    said = f"seed {args.seed}, {args.count} mutants of a file"
    print(said + (f"; a sample of {args.sample} by the same seed" if args.sample else ""), flush=True)
    if args.list:
        drawn = mutant_tree.draw(args.seed, args.count, {}, args.only)
        for mutant in mutant_tree.sample(drawn, args.seed, args.sample) if args.sample else drawn:
            print(f"{mutant.number} {mutant}")
        return 0
    wanted = mutant_tree.build(args.seed, args.count, args.jobs, args.only, args.sample)
    equal = read_equal()
    tests = mutant_tests.Tests(args.scripts, args.rough, sorted({m.path for m in wanted}))
    broken = tests.baseline(args.jobs)
    if broken:
        for name in broken:
            print(f"mutate: fails with no mutant: {name}")
        print("mutate: nothing can be told by tests that fail; repair them first")
        return 2
    results = Results(SAMPLE_RESULTS if args.sample else RESULTS, args.fresh)
    ordered = mutant_tree.in_turns(wanted, args.seed)
    sweep([m for m in ordered if m.key not in equal or results.get(m) is None], tests, results, args)
    judged = [(m, results.get(m)) for m in wanted if results.get(m)]
    total, lines = report(judged, equal, args.seed, len(wanted))
    last = 0 if args.quick else len(PASSES) - 1
    left = len(wanted) - sum(r[0] != "not noticed" or r[3] >= last for _, r in judged)
    if left:
        print(f"{left} of {len(wanted)} are not judged to the end yet: the same command goes on")
    if args.write:
        SHARES.write_text("\n".join(lines) + "\n")
    noticed, missed = sum(total[v] for v in GOOD), total["not noticed"]
    good = share(total) >= BAR and left == 0
    of = f" of a sample, {len(wanted)} mutants," if args.sample else ""
    print(f"{missed} of {noticed + missed}{of} that could be noticed were not; at least {BAR:.0%} must be")
    # Those below the bar's remainder are no failure, and no success.
    print(f"{noticed} passed, {0 if good else missed} failed, {total['equal'] + (missed if good else 0)} skipped")
    return 0 if good else 1


if __name__ == "__main__":
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: mutant_tests.STOP.set())
    sys.exit(main())
