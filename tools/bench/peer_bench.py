#!/usr/bin/env python3
"""Times one model on one peer runtime and prints one JSON line.

RUNTIME is ort (ONNX Runtime) or openvino. The inputs are the reference model's seeded ones
(feeds.py), or files given by --input. Reports load_ms (read and compile), first_ms, median_ms,
min_ms and p99_ms per run, runs, rss_mb after load and after the runs, and peak_mb at most in between,
each less the interpreter's own.

Examples:
  tools/bench/peer_bench.py ort build/models/resnet50.onnx --threads 1
  tools/bench/peer_bench.py openvino build/models/lenet.onnx --repeat 100
  tools/bench/peer_bench.py ort F.onnx --input x=x.npy --save out.npz
"""
import argparse
import importlib
import json
import os
import pathlib
import sys
import time

import project_venv

# Only the chosen runtime is needed; --help needs none.
RUNTIMES = {"ort": "onnxruntime", "openvino": "openvino"}
project_venv.enter("numpy", *(RUNTIMES[a] for a in sys.argv[1:2] if a in RUNTIMES))

import numpy as np  # noqa: E402


def rss_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def forget_peak():
    """From here on peak_mb() is what was resident at most since."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def peak_mb():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**10


def open_ort(path, threads, _):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda feed: session.run(None, feed)


def open_openvino(path, threads, precision):
    import openvino as ov
    model = ov.Core().compile_model(path, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": precision,
        # By default it takes the inputs of compressed weights in 8 bits, whatever the precision is.
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0})
    request = model.create_infer_request()

    def run(feed):
        result = request.infer(feed, share_inputs=True, share_outputs=True)
        return [result[output] for output in model.outputs]
    return run


def milliseconds(call):
    """(result, ms) of one call."""
    start = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - start) * 1e3


def make_feed(args):
    if args.input:
        return {name: np.load(file) for name, file in (i.split("=", 1) for i in args.input)}
    import feeds
    return feeds.make(pathlib.Path(args.model).stem)


def measure(run, feed, args):
    """Times of single runs in ms: --repeat of them, or as many as fit in --seconds, at least 5."""
    for _ in range(args.warmup):
        run(feed)
    times, end = [], time.perf_counter() + args.seconds
    while len(times) < args.repeat if args.repeat else (time.perf_counter() < end
                                                        or len(times) < 5):
        times.append(milliseconds(lambda: run(feed))[1])
    return times


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", choices=list(RUNTIMES))
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, help="number of timed runs (default: by --seconds)")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--input", action="append", metavar="NAME=FILE.npy")
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16", "f16"],
                        help="of openvino's sums: its INFERENCE_PRECISION_HINT (default f32)")
    parser.add_argument("--save", metavar="OUT.npz", help="keep the outputs of the first run")
    return parser.parse_args()


def main():
    args = parse_arguments()
    if args.runtime == "ort" and args.precision != "f32":
        sys.exit("peer_bench.py: ONNX Runtime has no such option; leave --precision out")
    feed = make_feed(args)
    importlib.import_module(RUNTIMES[args.runtime])
    base = rss_mb()
    forget_peak()
    opener = {"ort": open_ort, "openvino": open_openvino}[args.runtime]
    run, load_ms = milliseconds(lambda: opener(args.model, args.threads, args.precision))
    rss_load_mb = rss_mb() - base
    out, first_ms = milliseconds(lambda: run(feed))
    if args.save:
        np.savez(args.save, *out)
    times = measure(run, feed, args)
    print(json.dumps({
        "runtime": args.runtime, "model": pathlib.Path(args.model).stem, "threads": args.threads,
        "load_ms": round(load_ms, 2), "first_ms": round(first_ms, 3),
        "median_ms": round(float(np.median(times)), 4), "min_ms": round(min(times), 4),
        "p99_ms": round(float(np.percentile(times, 99)), 4),
        "runs": len(times), "rss_load_mb": round(rss_load_mb, 1),
        "rss_mb": round(rss_mb() - base, 1), "peak_mb": round(peak_mb() - base, 1)}))


if __name__ == "__main__":
    main()
