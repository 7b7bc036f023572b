#!/usr/bin/env python3
"""What a user meets: GraphEngine with default options against ONNX Runtime and OpenVINO.

Every figure is a process's own. The sides take turns, another one begins each round, and a round
starts one process of each; figures are medians over rounds. A ratio is our time / that of the best
peer in the same round: the median over rounds with a 95 % bootstrap interval. A row is "beyond" its
bound only if the whole interval is, which ends in exit code 1, as does a side that fails. tinychain
may be named, but has no bound and is in no mean.

Without a mode: the median of --repeat runs, after --warmup of them; beside it the 99th percentile.
  --cache fresh: each process of ours begins with an empty cache folder. warm: with a folder for each
  number of threads that one earlier process has used on the model, and earlier rounds.
--first: load and first run, from the first call of the API to the end of the run; beside it the
  run alone. Ours is a C program linked with libgraphengine.so, whose clock has the engines' dlopen
  in it; ONNX Runtime is the same program by its C API, its one library opened before the clock
  starts (the JSON's before_ms is the time from the start of the process to that of the clock).
  OpenVINO is its Python package, imported before the clock. The model's file lies in memory.
--best-of-threads: the default number of threads / the best of 1 to N (or of those in --threads).
--rest: the processor time of the process in the 100 ms after a run (beside it the worst of five),
  then the threads that run or wait for a core while two sessions run, a thread each: the median of
  samples every 3 ms for a second (beside it the most). ONNX Runtime alone is shown beside.
--neighbour keeps one core busy with another process, which ends with this one.
--before names an older `ge` to show beside. OPENBLAS_CORETYPE is taken out of the environment of all.

Examples:
  tools/bench/door/door.py                                         # 14 models, default threads, warm
  tools/bench/door/door.py --threads default 1 --cache both --json door.json
  tools/bench/door/door.py squeezenet lstm --rounds 9 --neighbour
  tools/bench/door/door.py --first
  tools/bench/door/door.py --best-of-threads --neighbour
  tools/bench/door/door.py lenet --before old/build/release/bin/ge --cache fresh
"""
import argparse
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import door_rows as rows_of  # noqa: E402
import door_sides  # noqa: E402
import ge_run  # noqa: E402
import models  # noqa: E402
import peer_bench  # noqa: E402
import speed  # noqa: E402

MODELS = [row["name"] for row in models.rows_named([]) if row["name"] not in speed.NOT_MEANT]
HEADS = {"ours": "ours", "before": "before", **rows_of.NAMES}


def race(case, sides, rounds, label):
    """{side: [what it answered each round]}; `sides` is {side: call}."""
    times, names = {}, list(sides)
    for i in range(rounds):
        for name in names[i % len(names):] + names[:i % len(names)]:
            speed.progress(f"{case.name}, {label}: round {i + 1} of {rounds}, {name}")
            times.setdefault(name, []).append(sides[name]())
    speed.progress("")
    return times


class Table:
    """Prints rows as they come, keeps them with all that was measured, and writes the JSON."""

    def __init__(self, args):
        self.args, self.machine = args, machine(args)
        self.rows, self.raw, self.means = [], [], []

    def keep(self, what, case, threads, times):
        self.raw.append({"what": what, "model": case.name, "threads": threads, "rounds": times})

    def add(self, row, times, columns):
        self.rows.append(row)
        print(rows_of.line(row, times, columns), flush=True)
        self.write()

    def mean(self, label, chosen, bound):
        chosen = [row for row in chosen if row["model"] not in speed.NOT_MEANT]
        if len(chosen) > 1:
            self.means.append({"label": label, **rows_of.geometric_mean(chosen, bound)})
            print(rows_of.mean_line(label, self.means[-1]), flush=True)
            self.write()

    def write(self):
        if self.args.json:
            options = {key: str(value) if isinstance(value, pathlib.Path) else value
                       for key, value in vars(self.args).items()}
            self.args.json.write_text(json.dumps(
                {"options": options, "machine": self.machine, "rows": self.rows, "means": self.means,
                 "measured": self.raw}, indent=1, default=str) + "\n")

    def beyond(self):
        return sum(row["verdict"] == "beyond" for row in self.rows + self.means)


def machine(args):
    """What the figures depend on and the rows do not say."""
    versions = {name: importlib.metadata.version(name)
                for name in (peer_bench.RUNTIMES[peer] for peer in args.peers)}
    return {"cores": len(os.sched_getaffinity(0)), "load_average": round(os.getloadavg()[0], 2),
            **versions}


def print_machine(table):
    facts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in table.machine.items())
    print(f"{facts}; {table.args.rounds} rounds"
          + (" beside a busy neighbour" if table.args.neighbour else ""))


def bounds(args, usual):
    return tuple(args.bound) if args.bound else usual


def name_of(threads):
    return str(threads) if threads else "default"


def call_ours(sides, who, case, threads, cache, what):
    return lambda: sides.ours(who, case, threads, cache, what)


def call_peer(sides, peer, case, threads, what):
    return lambda: sides.peer(peer, case, threads, what)


def each_case(args, folder, failed):
    """The cases of all models; what fails with one is said, counted and left."""
    for name in args.model:
        try:
            yield door_sides.Case(name, folder)
        except ge_run.RunError as problem:
            failed.append(name)
            print(f"{name:<12} FAIL {problem}", file=sys.stderr)


def guarded(case, failed, work):
    """Calls `work`; a side that fails ends this model alone."""
    try:
        work()
    except ge_run.RunError as problem:
        failed.append(case.name)
        speed.progress("")
        print(f"{case.name:<12} FAIL {problem}", file=sys.stderr)


def usual_bounds(args, what, threads, cache):
    """(every model, geometric mean) where --bound says nothing."""
    if args.neighbour:
        return rows_of.BESIDE_NEIGHBOUR
    return rows_of.FIRST if what == "first" else rows_of.bounds_of_runs(threads, cache)


def ratio_rows(table, case, sides, threads, what):
    """One model of the plain mode or of --first: a row for each cache."""
    args, who = table.args, ["ours"] + (["before"] if table.args.before else [])
    calls = {f"{w} {cache}": call_ours(sides, w, case, threads, cache, what)
             for w in who for cache in args.cache}
    calls.update({peer: call_peer(sides, peer, case, threads, what) for peer in args.peers})
    times = race(case, calls, args.rounds, name_of(threads))
    table.keep(what, case, threads, times)
    for cache in args.cache:
        row = {"what": what, "model": case.name, "threads": name_of(threads), "cache": cache}
        bound = bounds(args, usual_bounds(args, what, threads, cache))[0]
        row = rows_of.ratio_row(row, times, f"ours {cache}", args.peers,
                                None if case.name in speed.NOT_MEANT else bound)
        if args.before:
            row["before"] = rows_of.ratio_row({}, times, f"before {cache}", args.peers, None)
        table.add(row, {w: times.get(f"{w} {cache}", times.get(w)) for w in who + args.peers},
                  columns(args))


def columns(args):
    names = ["ours"] + (["before"] if args.before else []) + args.peers
    return [(name, HEADS[name]) for name in names]


def print_means(table, what, threads):
    """Our geometric mean for each cache, and that of --before beside it."""
    args = table.args
    for cache in args.cache:
        chosen = [row for row in table.rows if row["what"] == what and row["cache"] == cache
                  and row["threads"] == name_of(threads)]
        label = f"threads {name_of(threads)}, {cache} cache"
        table.mean(label, chosen, bounds(args, usual_bounds(args, what, threads, cache))[1])
        if args.before:
            table.mean(f"{label}, before", [{**row["before"], "model": row["model"]}
                                            for row in chosen], None)


def ratio_table(table, sides, folder, failed, what):
    """The plain mode and --first."""
    detail = "run" if what == "first" else "p99"
    print(rows_of.title(columns(table.args), "ms", detail, "  ratio, 95 % interval"))
    cases = list(each_case(table.args, folder, failed))
    for threads in table.args.threads:
        for case in cases:
            guarded(case, failed, lambda: ratio_rows(table, case, sides, threads, what))
        print_means(table, what, threads)


def thread_rows(table, case, sides, counts):
    """--best-of-threads for one model: ours by default / ours at its best, and / the peers'."""
    args = table.args
    calls = {name_of(n): call_ours(sides, "ours", case, n, args.cache[0], "run")
             for n in [0, *counts]}
    calls.update({peer: call_peer(sides, peer, case, 0, "run") for peer in args.peers})
    times = race(case, calls, args.rounds, "threads")
    table.keep("threads", case, [0, *counts], times)
    shown = [(name, HEADS.get(name, name)) for name in calls]
    row = {"what": "threads", "model": case.name, "threads": "default", "cache": args.cache[0]}
    usual = rows_of.BEST_OF_THREADS_NEIGHBOUR if args.neighbour else rows_of.BEST_OF_THREADS
    table.add(rows_of.ratio_row(row, times, "default", [str(n) for n in counts],
                                bounds(args, usual)[0]), times, shown)
    if args.peers:
        bound = rows_of.BESIDE_NEIGHBOUR[0] if args.neighbour else None
        table.add(rows_of.ratio_row({**row, "what": "peers"}, times, "default", args.peers, bound),
                  {}, shown)


def thread_table(table, sides, folder, failed):
    args = table.args
    counts = [n for n in args.threads if n] or list(range(1, len(os.sched_getaffinity(0)) + 1))
    shown = [(str(n), name_of(n)) for n in [0, *counts]] + [(p, HEADS[p]) for p in args.peers]
    print(rows_of.title(shown, "ms", "p99", "  ratio, 95 % interval"))
    for case in each_case(args, folder, failed):
        guarded(case, failed, lambda: thread_rows(table, case, sides, counts))
    table.mean("default / best number of threads",
               [row for row in table.rows if row["what"] == "threads"], None)


def rest_rows(table, case, sides, threads, what, bound):
    args, peers = table.args, [p for p in table.args.peers if p == "ort"]
    calls = {"ours": call_ours(sides, "ours", case, threads, args.cache[0], what)}
    calls.update({peer: call_peer(sides, peer, case, threads, what) for peer in peers})
    times = race(case, calls, args.rounds, what)
    table.keep(what, case, threads, times)
    row = {"what": what, "model": case.name, "threads": name_of(threads), "cache": args.cache[0]}
    table.add(rows_of.value_row(row, times, "ours", bounds(args, (bound, None))[0]), times,
              [(name, HEADS[name]) for name in calls])


def rest_table(table, sides, folder, failed):
    args = table.args
    shown = [("ours", "ours")] + [(p, HEADS[p]) for p in args.peers if p == "ort"]
    cases = list(each_case(args, folder, failed))
    for what, unit, detail, bound in (
            ("rest", "ms", "worst", rows_of.REST_MS[0]),
            ("two", "threads", "most", float(len(os.sched_getaffinity(0))))):
        print(rows_of.title(shown, unit, detail, "  ours, 95 % interval"))
        for threads in args.threads:
            for case in cases:
                guarded(case, failed,
                        lambda: rest_rows(table, case, sides, threads, what, bound))


def spin(parent):
    while os.getppid() == parent:
        for _ in range(1000000):
            pass


def threads_of(text):
    if text == "default":
        return 0
    if not text.isdigit() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is neither default nor a number from 1")
    return int(text)


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", default=MODELS,
                        help="first of all arguments (default: the fifteen without tinychain)")
    parser.add_argument("--threads", type=threads_of, nargs="+", default=[0], metavar="N",
                        help="of all sides; default = each one's own (default: default)")
    parser.add_argument("--cache", choices=["fresh", "warm", "both"],
                        help="of ours (default: warm; fresh with --first)")
    parser.add_argument("--peers", nargs="+", choices=list(speed.PEERS),
                        help="the best of them counts (default: both; ort alone with a mode or "
                             "--neighbour)")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each side (default: 5)")
    parser.add_argument("--repeat", type=int, default=50, help="runs that are timed (default: 50)")
    parser.add_argument("--warmup", type=int, default=3)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--first", action="store_true", help="load and first run")
    mode.add_argument("--best-of-threads", action="store_true",
                      help="the default number of threads against the best")
    mode.add_argument("--rest", action="store_true", help="what goes on after and between runs")
    parser.add_argument("--neighbour", action="store_true", help="keep one core busy meanwhile")
    parser.add_argument("--bound", type=float, nargs=2, metavar=("EACH", "MEAN"),
                        help="in place of the built-in ones, which the table shows")
    parser.add_argument("--before", type=pathlib.Path, metavar="GE",
                        help="an older ge, shown beside")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all that was measured")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    return parser


def parse_arguments():
    parser = make_parser()
    args = parser.parse_args()
    mode = args.first or args.best_of_threads or args.rest
    args.peers = args.peers or (["ort"] if mode or args.neighbour else list(speed.PEERS))
    cache = args.cache or ("fresh" if args.first else "warm")
    args.cache = ["warm", "fresh"] if cache == "both" else [cache]
    if args.rounds < 2 or args.repeat < 2:
        parser.error("a median needs --rounds and --repeat of at least 2")
    if (args.best_of_threads or args.rest) and len(args.cache) > 1:
        parser.error("--best-of-threads and --rest take one --cache")
    if args.before and (args.best_of_threads or args.rest):
        parser.error("--best-of-threads and --rest show no --before")
    if args.rounds < 5:
        print("door.py: fewer than 5 rounds say little", file=sys.stderr)
    return args


def main():
    args, failed = parse_arguments(), []
    project_venv.enter(*(peer_bench.RUNTIMES[peer] for peer in args.peers))
    os.environ.pop("OPENBLAS_CORETYPE", None)
    neighbour = multiprocessing.Process(target=spin, args=(os.getpid(),), daemon=True)
    try:
        models.rows_named(args.model)
        table = Table(args)
        print_machine(table)
        if args.neighbour:
            neighbour.start()
        with tempfile.TemporaryDirectory(prefix="ge-door.") as name:
            folder = pathlib.Path(name)
            sides = door_sides.Sides(args, folder)
            if args.best_of_threads:
                thread_table(table, sides, folder, failed)
            elif args.rest:
                rest_table(table, sides, folder, failed)
            else:
                ratio_table(table, sides, folder, failed, "first" if args.first else "run")
    except models.ModelError as error:
        sys.stderr.write(f"door.py: {error}\n")
        sys.exit(2)
    finally:
        if neighbour.is_alive():
            neighbour.terminate()
    print(f"{len(table.rows)} rows, {table.beyond()} beyond the bound; {len(failed)} failed")
    sys.exit(1 if failed or table.beyond() else 0)


if __name__ == "__main__":
    main()
