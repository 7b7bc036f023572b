#!/usr/bin/env python3
"""Requests per second of one session under 1, 2, 4 and 8 callers, against ONNX Runtime.

Each side in a process of its own with its default threads, in turns, so many rounds; ours is `ge
bench --concurrency`, the peer one InferenceSession that as many Python threads call (which hold no
lock while it runs; nets of less than a millisecond would measure Python). The ratio is ours over
theirs, of medians over the rounds: above 1 we answer more. Printed too: the 99th percentile of one
request over the median of it, which is large where some caller waits for others.

Exit codes: 0 the bounds hold (geometric mean >= 1, p99 <= 5 medians), 1 not, 2 bad arguments, 3 a
side failed.

Examples:
  tools/bench/door/requests.py
  tools/bench/door/requests.py squeezenet --callers 1,8 --rounds 5 --seconds 3
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import peer_bench  # noqa: E402
import reference  # noqa: E402

NETS = ["squeezenet", "resnet50", "minilm", "ppocr_rec"]
LEAST_MEAN, MOST_SPREAD = 1.0, 5.0


def peer(model, feeds, callers, seconds):
    """One row a number of callers, of ONNX Runtime in this process."""
    run_once = peer_bench.open_ort(str(model), 0, "f32")  # 0 = its default threads
    run_once(feeds)
    rows = []
    for n in callers:
        stop, times = time.perf_counter() + seconds, [[] for _ in range(n)]

        def call(mine):
            while (start := time.perf_counter()) < stop:
                run_once(feeds)
                mine.append(time.perf_counter() - start)

        threads = [threading.Thread(target=call, args=(t,)) for t in times]
        begin = time.perf_counter()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        took, every = time.perf_counter() - begin, np.array(sum(times, []))
        rows.append({"callers": n, "requests_per_s": len(every) / took,
                     "median_ms": 1e3 * np.median(every), "p99_ms": 1e3 * np.quantile(every, 0.99)})
    return rows


def run(command, **env):
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True,
                          timeout=600, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def measure(net, args):
    """{side: {callers: [row of each round]}} of one net."""
    model, folder, known = reference.ensure(net, say=lambda text: print(text, file=sys.stderr))
    inputs = [w for name, file in known["inputs"].items()
              for w in ("--input", f"{name}={folder / file}")]
    callers = ",".join(map(str, args.callers))
    common = ["--concurrency", callers, "--seconds", str(args.seconds)]
    out = {"ours": {n: [] for n in args.callers}, "ort": {n: [] for n in args.callers}}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(args.rounds):
            for row in run([args.ge, "bench", model, *inputs, *common, "--json"],
                           GE_CACHE_DIR=cache)["rows"]:
                out["ours"][row["callers"]].append(row)
            for row in run([sys.executable, __file__, net, "--peer", "--callers", callers,
                            "--seconds", str(args.seconds)]):
                out["ort"][row["callers"]].append(row)
    return out


def table(net, measured, out):
    for n in measured["ours"]:
        per_second = {side: statistics.median(r["requests_per_s"] for r in rows[n])
                      for side, rows in measured.items()}
        spread = {side: statistics.median(r["p99_ms"] / r["median_ms"] for r in rows[n])
                  for side, rows in measured.items()}
        ratio = per_second["ours"] / per_second["ort"]
        out.append({"net": net, "callers": n, "ratio": ratio, "requests_per_s": per_second,
                    "p99_to_median": spread})
        print(f"{net:12} {n:7} {per_second['ours']:9.1f} {per_second['ort']:9.1f} {ratio:6.3f} "
              f"{spread['ours']:8.2f} {spread['ort']:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", nargs="*", default=NETS)
    parser.add_argument("--callers", type=lambda t: [int(n) for n in t.split(",")],
                        default=[1, 2, 4, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--ge", type=pathlib.Path,
                        default=project_venv.ROOT / "build/release/bin/ge")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        model, folder, known = reference.ensure(args.nets[0], say=lambda _: None)
        feeds = {name: np.load(folder / file) for name, file in known["inputs"].items()}
        print(json.dumps(peer(model, feeds, args.callers, args.seconds)))
        return 0
    out, stdout = [], sys.stdout
    if args.json:
        sys.stdout = sys.stderr
    print(f"{'net':12} {'callers':>7} {'ours /s':>9} {'ort /s':>9} {'ratio':>6} {'p99/med':>8} "
          f"{'ort':>8}")
    try:
        for net in args.nets:
            table(net, measure(net, args), out)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"requests: {error}", file=sys.stderr)
        return 3
    mean = float(np.exp(np.mean([np.log(r["ratio"]) for r in out])))
    worst = max(r["p99_to_median"]["ours"] for r in out)
    good = mean >= LEAST_MEAN and worst <= MOST_SPREAD
    print(f"geometric mean {mean:.3f} (bound {LEAST_MEAN}), largest p99 / median {worst:.2f} "
          f"(bound {MOST_SPREAD}): {'yes' if good else 'NO'}")
    sys.stdout = stdout
    if args.json:
        print(json.dumps({"rows": out, "geometric_mean": mean, "largest_p99_to_median": worst}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
