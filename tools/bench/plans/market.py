#!/usr/bin/env python3
"""Times the plan that prices choose against every priority order of the engines, and against
single moves of a node to its runner-up.

For each model and ISA a process holds all plans and takes their runs in turns (ge-bench), several
processes after each other; a plan that places every node as another does is timed once. A ratio is a plan's time / ours: above 1, ours
is faster. Its 95 % bootstrap interval decides; a plan that is more than twice as slow gets three
runs only. Exit code 1 when a verdict is "no" or a plan could not be timed.

Examples:
  tools/bench/plans/market.py lenet mlp
  tools/bench/plans/market.py --isa avx2 --isa avx512 --engines native,onednn,openblas,ref
  tools/bench/plans/market.py resnet50 --moves 0 --rounds 30 --json > market.json
"""
import argparse
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import ge_bench  # noqa: E402
import ge_run  # noqa: E402
import models  # noqa: E402
import reference  # noqa: E402

BEATS, BEATS_MUCH = 1.05, 1.10  # of the project's table, row 2
FASTER = 0.95                   # row 4: a plan in less than this share of our time
ENOUGH_MODELS = 5
FLAG = {"avx2": "avx2", "avx512": "avx512f"}


def host_has(isa):
    """Whether this processor has the instruction set; native always is."""
    if isa not in FLAG:
        return True
    with open("/proc/cpuinfo") as f:
        return any(line.startswith("flags") and FLAG[isa] in line.split() for line in f)


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def measure(name, isa, args):
    """One model under one ISA: ge-bench's result with the best order and the best move."""
    model, folder, known = reference.ensure(name, say=lambda s: print(s, file=sys.stderr))
    common = ge_bench.flags(folder, known, ",".join(args.engines), args.threads, isa)
    common += ["--prices", args.prices, "--measure-budget", str(args.measure_budget)]
    result = ge_bench.time_plans(args.bench, model, common, ge_bench.orders(args.engines),
                                 args.moves, args.rounds, args.clock, args.processes)
    result.update(name=name, isa=isa, unexplained=result["base"]["unexplained"])
    for kind in ("order", "move"):
        of_kind = [p for p in result["plans"] if p["kind"] == kind]
        alike = [p for p in of_kind if p.get("same_as") == "plan"]
        timed = [p for p in of_kind if "ratio" in p]
        # A plan that places as ours does is ours: its ratio is 1 without timing.
        ours = {"name": alike[0]["name"], "ratio": 1.0, "low": 1.0, "high": 1.0} if alike else None
        result[kind] = {
            "best": min([*timed, *([ours] if ours else [])], key=lambda p: p["ratio"],
                        default=None),
            "timed": len(timed), "alike": len(alike),
            "errors": [p for p in of_kind if "error" in p]}
    return result


def cells(result):
    base, row = result["base"], [result["name"], result["isa"], f"{result['base']['ns'] / 1e6:.3f}"]
    for kind in ("order", "move"):
        best = result[kind]["best"]
        row += ([f"{best['ratio']:.3f}", f"[{best['low']:.3f}, {best['high']:.3f}]",
                 best["name"][-40:]] if best else ["-", "-", "-"])
        row.append(f"{result[kind]['timed']}+{result[kind]['alike']}")
    return row + [" ".join(f"{e}:{n}" for e, n in sorted(base["engines"].items()))]


HEAD = ["model", "isa", "ours ms", "best order", "95 %", "which", "n", "best move", "95 %", "which",
        "n", "nodes"]


def print_table(rows):
    wide = [max(len(r[i]) for r in [HEAD, *rows]) for i in range(len(HEAD))]
    right = {2, 3, 6, 7, 10}
    for r in [HEAD, *rows]:
        print("  ".join(c.rjust(w) if i in right else c.ljust(w)
                        for i, (c, w) in enumerate(zip(r, wide))).rstrip())
    print("n: plans timed + plans that place as ours does")


def verdict(row, good, text):
    return {"row": row, "passes": bool(good), "text": text}


def judge(results, failures):
    """The verdicts of rows 2 and 4 over all models and ISAs that were measured."""
    out, everything = [], [r for r in results if r["order"]["best"]]
    beaten = [r for r in everything if r["order"]["best"]["ratio"] >= BEATS]
    much = [r for r in beaten if r["isa"] == "avx2" and r["order"]["best"]["ratio"] >= BEATS_MUCH]
    names = sorted({r["name"] for r in beaten})
    out.append(verdict("2a", len(names) >= ENOUGH_MODELS,
                       f"beats every order by >= 5 % on {len(names)} models ({', '.join(names)}); "
                       f"wanted {ENOUGH_MODELS}"))
    out.append(verdict("2b", much, "by >= 10 % under AVX2: " +
                       (", ".join(r["name"] for r in much) or "none")))
    slower = [r for r in everything if r["order"]["best"]["high"] < 1]
    out.append(verdict("2c", not slower, "surely slower than the best order on: " +
                       (", ".join(f"{r['name']}/{r['isa']} ({r['order']['best']['ratio']:.3f})"
                                  for r in slower) or "none")))
    mute = [f"{r['name']}/{r['isa']}" for r in results if r["unexplained"]]
    out.append(verdict("2d", not mute, "models with a node that ge explain has no line for: " +
                       (", ".join(mute) or "none")))
    fast = [(r, p) for r in results for p in r["plans"] if "high" in p and p["high"] < FASTER]
    out.append(verdict("4", not fast, "plans surely faster than ours by > 5 %: " +
                       ("; ".join(f"{r['name']}/{r['isa']} {p['name']} ({p['ratio']:.3f})"
                                  for r, p in fast) or "none")))
    bad = [f"{r['name']}/{r['isa']} {p['name']}: {p['error']}" for r in results
           for p in r["plans"] if "error" in p] + failures
    out.append(verdict("-", not bad, "not timed: " + ("; ".join(bad) or "none")))
    return out


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="default: all fifteen")
    parser.add_argument("--isa", action="append", choices=["native", "avx2", "avx512"],
                        help="may be repeated (default: avx2 and avx512)")
    parser.add_argument("--engines", default="native,onednn,openblas,ref",
                        help="every order of these is tried (default: all four)")
    parser.add_argument("--moves", type=int, default=20, help="single moves a model (default 20)")
    parser.add_argument("--rounds", type=int, default=30, help="pairs of samples a plan")
    parser.add_argument("--processes", type=int, default=5,
                        help="the rounds are shared among so many (default 5)")
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"],
                        help="cpu: of the running thread, for a busy machine and one thread")
    parser.add_argument("--prices", default="cached", choices=["analytic", "cached", "measure"],
                        help="what our plan goes by, as in ge run (default cached)")
    parser.add_argument("--measure-budget", type=float, default=10000,
                        help="ms of --prices measure (default 10000)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--bench", type=pathlib.Path, default=ge_bench.DEFAULT_BENCH)
    args = parser.parse_args()
    args.engines = args.engines.split(",")
    args.isa = args.isa or ["avx2", "avx512"]
    return args


def main():
    args, results, failures = parse_arguments(), [], []
    try:
        names = [row["name"] for row in models.rows_named(args.model)]
        for isa in args.isa:
            if not host_has(isa):
                failures.append(f"{isa}: this host does not have it")
                continue
            for name in names:
                progress(f"{name} {isa}")
                try:
                    results.append(measure(name, isa, args))
                except ge_run.RunError as problem:
                    failures.append(f"{name}/{isa}: {problem}")
        progress("")
    except models.ModelError as error:
        sys.stderr.write(f"{os.path.basename(sys.argv[0])}: {error}\n")
        sys.exit(2)
    verdicts = judge(results, failures)
    if args.json:
        print(json.dumps({"results": results, "verdicts": verdicts}))
    else:
        print_table([cells(r) for r in results])
        for v in verdicts:
            print(f"row {v['row']:<2} {'yes' if v['passes'] else 'NO '}  {v['text']}")
    sys.exit(0 if all(v["passes"] for v in verdicts) else 1)


if __name__ == "__main__":
    main()
