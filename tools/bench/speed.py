#!/usr/bin/env python3
"""Times `ge run` against ONNX Runtime on the same model and inputs, interleaved.

Rounds alternate between the two, each a fresh process that warms up and gives the median of
--repeat runs; which goes first changes from round to round. The ratio is our time / ONNX Runtime's
(below 1: we are faster): the median over rounds, with a 95 % bootstrap interval. With --limit the
exit code is 1 for a model whose whole interval lies above the limit, or that does not run.

Examples:
  tools/bench/speed.py                                  # resnet50 and ppocr_det, one thread
  tools/bench/speed.py resnet50 --engines onednn,ref --rounds 11 --limit 1.6
  tools/bench/speed.py lenet mlp --threads 2 --json
"""
import argparse
import json
import pathlib
import subprocess
import sys

import project_venv

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import ge_run  # noqa: E402
import models  # noqa: E402
import reference  # noqa: E402

MODELS = ["resnet50", "ppocr_det"]


def time_ours(model, folder, known, args):
    options = ["--threads", args.threads, "--repeat", args.repeat, "--warmup", args.warmup]
    return ge_run.run(args.ge, model, folder, known, args.engines, options=map(str, options))


def time_peer(model, folder, known, args):
    command = [sys.executable, str(pathlib.Path(__file__).with_name("peer_bench.py")), "ort",
               str(model)]
    for option in ("threads", "repeat", "warmup"):
        command += [f"--{option}", str(getattr(args, option))]
    for name, file in known["inputs"].items():
        command += ["--input", f"{name}={folder / file}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise ge_run.RunError(f"ONNX Runtime: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return json.loads(done.stdout)


def interval(values, draws=10000, seed=0):
    """95 % bootstrap interval of the median of `values`."""
    values, rng = np.asarray(values), np.random.default_rng(seed)
    picks = rng.integers(0, len(values), (draws, len(values)))
    return [float(v) for v in np.percentile(np.median(values[picks], axis=1), [2.5, 97.5])]


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def race(name, args):
    """One model's row as a dict."""
    model, folder, known = reference.ensure(name, say=lambda s: print(s, file=sys.stderr))
    pairs, report = [], {}
    for i in range(args.rounds):
        progress(f"{name}: round {i + 1} of {args.rounds}")
        if i % 2:
            peer = time_peer(model, folder, known, args)
            report = time_ours(model, folder, known, args)
        else:
            report = time_ours(model, folder, known, args)
            peer = time_peer(model, folder, known, args)
        pairs.append((report["median_ms"], peer["median_ms"]))
    progress("")
    ratios = [ours / peer for ours, peer in pairs]
    low, high = interval(ratios)
    return {"model": name, "ours_ms": float(np.median([p[0] for p in pairs])),
            "onnxruntime_ms": float(np.median([p[1] for p in pairs])),
            "ratio": float(np.median(ratios)), "low": low, "high": high,
            "runs": args.rounds * args.repeat, "threads": args.threads,
            "isa": report.get("isa", "?"), "engines": report["engines"]}


def print_row(row):
    nodes = " ".join(f"{e}:{n}" for e, n in sorted(row["engines"].items()))
    print(f"{row['model']:<12} {row['ours_ms']:>9.3f} {row['onnxruntime_ms']:>9.3f} "
          f"{row['ratio']:>7.3f}  [{row['low']:.3f}, {row['high']:.3f}]  {row['runs']:>5} runs, "
          f"{row['threads']} thread(s), {row['isa']}, {nodes}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", default=MODELS, help=f"default: {' '.join(MODELS)}")
    parser.add_argument("--engines", metavar="LIST", default="onednn,ref")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=30, help="timed runs in a round (>= 30)")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--limit", type=float, help="fail a model that is surely slower than this")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    args = parser.parse_args()
    if args.repeat < 30 or args.rounds < 3:
        parser.error("a median needs --repeat of at least 30 and an interval --rounds of 3")
    return args


def main():
    args, rows, failed = parse_arguments(), [], 0
    if not args.json:
        print(f"{'model':<12} {'ours ms':>9} {'ORT ms':>9} {'ratio':>7}  95 % interval")
    try:
        for name in [row["name"] for row in models.rows_named(args.model)]:
            try:
                rows.append(race(name, args))
            except ge_run.RunError as problem:
                failed += 1
                print(f"{name:<12} FAIL {problem}", file=sys.stderr)
                continue
            failed += args.limit is not None and rows[-1]["low"] > args.limit
            if not args.json:
                print_row(rows[-1])
    except models.ModelError as error:
        sys.stderr.write(f"speed.py: {error}\n")
        sys.exit(2)
    if args.json:
        print(json.dumps({"limit": args.limit, "models": rows, "failed": int(failed)}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
