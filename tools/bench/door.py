#!/usr/bin/env python3
"""What a user meets: `ge run` with default options and threads against ONNX Runtime with its own.

Each side runs in a process of its own, in turns; a process warms up and gives the median and the
99th percentile of its runs. The price cache is an empty folder of its own, shared by the processes of
one round of models (--cache fresh: each process begins with none). --before names an older `ge` to
show beside. --neighbour keeps one core busy with another process, which ends with this one.
The ratio is our time / ONNX Runtime's, the median over rounds with a 95 % bootstrap interval; tinychain
is in no mean.

Examples:
  tools/bench/door.py
  tools/bench/door.py squeezenet lstm --rounds 9 --neighbour
  tools/bench/door.py --before old/build/release/bin/ge --cache fresh
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import project_venv

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import ge_run  # noqa: E402
import reference  # noqa: E402
import speed  # noqa: E402

MODELS = ["squeezenet", "mobilenetv2", "resnet50", "minilm", "lstm", "lenet", "ppocr_rec"]


def time_ge(ge, model, folder, known, args, cache):
    os.environ["GE_CACHE_DIR"] = str(cache)
    options = ["--repeat", args.repeat, "--warmup", args.warmup]
    if args.threads:
        options += ["--threads", args.threads]
    found = ge_run.run(ge, model, folder, known, None, options=map(str, options))
    return found["median_ms"], found["p99_ms"]


def time_ort(model, folder, known, args):
    command = [sys.executable, str(pathlib.Path(__file__).with_name("peer_bench.py")), "ort", str(model),
               "--threads", str(args.threads), "--repeat", str(args.repeat),
               "--warmup", str(args.warmup)]
    for name, file in known["inputs"].items():
        command += ["--input", f"{name}={folder / file}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise ge_run.RunError(f"ONNX Runtime: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    found = json.loads(done.stdout)
    return found["median_ms"], found["p99_ms"]


def race(name, args, caches):
    """{side: [(median, p99) of each round]} of one model."""
    model, folder, known = reference.ensure(name, say=lambda s: print(s, file=sys.stderr))
    times = {}
    for i in range(args.rounds):
        sides = ["ours", "ort"] + (["before"] if args.before else [])
        for side in sides[i % len(sides):] + sides[:i % len(sides)]:
            if side == "ort":
                found = time_ort(model, folder, known, args)
            else:
                cache = caches / side
                if args.cache == "fresh":
                    cache = pathlib.Path(tempfile.mkdtemp(prefix="cache.", dir=caches))
                found = time_ge(args.ge if side == "ours" else args.before, model, folder, known, args,
                                cache)
            times.setdefault(side, []).append(found)
    return times


def ratio(times, side):
    each = [ours[0] / peer[0] for ours, peer in zip(times[side], times["ort"])]
    return float(np.median(each)), speed.interval(each)


def print_row(name, times):
    text = f"{name:<12}"
    for side in ("ort", "ours", "before"):
        if side not in times:
            continue
        median, tail = (float(np.median([t[k] for t in times[side]])) for k in (0, 1))
        text += f" {median:>9.3f} ({tail:>8.2f})"
        if side != "ort":
            middle, (low, high) = ratio(times, side)
            text += f" {middle:>6.2f} [{low:.2f}, {high:.2f}]"
    print(text, flush=True)


def spin(parent):
    while os.getppid() == parent:
        for _ in range(1000000):
            pass


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", default=MODELS, help=f"default: {' '.join(MODELS)}")
    parser.add_argument("--threads", type=int, default=0, help="of both sides; 0 = each one's default")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each side (>= 3)")
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--cache", choices=["fresh", "warm"], default="warm")
    parser.add_argument("--neighbour", action="store_true", help="keep one core busy meanwhile")
    parser.add_argument("--before", type=pathlib.Path, metavar="GE", help="an older ge, shown beside")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    args = parser.parse_args()
    if args.rounds < 3:
        parser.error("an interval needs --rounds of 3")
    return args


def main():
    args, rows, failed = parse_arguments(), {}, 0
    print(f"{'model':<12} {'ORT ms (p99)':>20} {'ours ms (p99), ratio, interval':>42}"
          + (f" {'before':>20}" if args.before else ""))
    neighbour = multiprocessing.Process(target=spin, args=(os.getpid(),), daemon=True)
    if args.neighbour:
        neighbour.start()
    with tempfile.TemporaryDirectory(prefix="ge-door.") as caches:
        for name in args.model:
            try:
                rows[name] = race(name, args, pathlib.Path(caches))
                print_row(name, rows[name])
            except ge_run.RunError as problem:
                failed += 1
                print(f"{name:<12} FAIL {problem}", file=sys.stderr)
    if args.neighbour:
        neighbour.terminate()
    for side in ("ours", "before"):
        means = [ratio(t, side)[0] for n, t in rows.items() if side in t and n != "tinychain"]
        if means:
            print(f"{side}: geometric mean over ONNX Runtime {np.exp(np.mean(np.log(means))):.3f} "
                  f"over {len(means)} models")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
