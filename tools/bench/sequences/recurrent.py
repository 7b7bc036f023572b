#!/usr/bin/env python3
"""Layers of RNN, GRU and LSTM, and contractions, against ONNX Runtime, in turns in one process.

A figure is the median of rounds; a round runs each side a few times, another one first each time.
The last column is our time / theirs. Outputs are compared. Asserts nothing else.

Examples:
  tools/bench/sequences/recurrent.py --threads 1
  tools/bench/sequences/recurrent.py --only gru --rounds 9
"""
import argparse
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime as ort  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import ge_session  # noqa: E402

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
REST_S = 0.1  # until the other side's threads have gone to sleep: they spin behind a run
EINSUMS = {
    "bhid,bhjd->bhij": [(1, 12, 128, 64), (1, 12, 128, 64)],
    "bhij,bhjd->bhid": [(1, 12, 128, 128), (1, 12, 128, 64)],
    "bid,bjd->bij": [(8, 64, 64), (8, 64, 64)],
    "...ij,jk->...ik": [(4, 32, 256), (256, 256)],
    "bhwc,hkc->bhwk": [(4, 14, 14, 64), (14, 14, 64)],
    "bi,bi->b": [(64, 768), (64, 768)],
}


def save(nodes, inputs, outputs, weights, path):
    graph = helper.make_graph(nodes, "bench", inputs, outputs,
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)


def recurrent(op, wide, batch, directions, lengths, steps, path):
    rng = np.random.default_rng(1)
    gates = GATES[op] * wide

    def weights(*dims):
        return (rng.standard_normal(dims) / np.sqrt(wide)).astype(np.float32)

    values = {"w": weights(directions, gates, wide), "r": weights(directions, gates, wide),
              "b": weights(directions, 2 * gates)}
    feeds = {"x": rng.standard_normal((steps, batch, wide)).astype(np.float32)}
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["t", "n", wide])]
    if lengths:
        feeds["n"] = rng.integers(steps // 4, steps + 1, batch).astype(np.int32)
        feeds["n"][0] = steps
        inputs.append(helper.make_tensor_value_info("n", TensorProto.INT32, ["n"]))
    attributes = {"linear_before_reset": 1} if op == "GRU" else {}
    node = helper.make_node(op, ["x", "w", "r", "b"] + (["n"] if lengths else []), ["y", "h"],
                            hidden_size=wide,
                            direction="bidirectional" if directions == 2 else "forward",
                            **attributes)
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "h")]
    save([node], inputs, outputs, values, path)
    return feeds


def einsum(equation, dims, path):
    rng = np.random.default_rng(1)
    feeds = {f"x{i}": rng.standard_normal(d).astype(np.float32) for i, d in enumerate(dims)}
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT,
                                            [f"d{i}_{k}" for k in range(len(d))])
              for i, d in enumerate(dims)]
    node = helper.make_node("Einsum", list(feeds), ["y"], equation=equation)
    save([node], inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], {}, path)
    return feeds


def median_ms(calls, rounds):
    """Of each call, in turns; a round's figure is the least of a few runs."""
    for call in calls:
        for _ in range(3):
            call()
    begin = time.perf_counter()
    calls[0]()
    each = max(1, min(20, int(0.02 / (time.perf_counter() - begin + 1e-9))))
    times = [[] for _ in calls]
    for i in range(rounds):
        for k in sorted(range(len(calls)), key=lambda k: (k + i) % len(calls)):
            least = float("inf")
            time.sleep(REST_S)
            for _ in range(each):
                begin = time.perf_counter()
                calls[k]()
                least = min(least, time.perf_counter() - begin)
            times[k].append(least * 1e3)
    return [statistics.median(t) for t in times]


def race(label, feeds, path, args):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = args.threads, 1
    peer = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ours = ge_session.GeSession(path, threads=args.threads)
    feed = ours.feed(feeds)
    ours.run_feed(feed)
    wanted = peer.run(None, feeds)
    apart = max(float(np.abs(a - b).max()) for a, b in zip(ours.arrays(), wanted))
    mine, theirs = median_ms([lambda: ours.run_feed(feed), lambda: peer.run(None, feeds)],
                             args.rounds)
    engines = ",".join(ours.report().get("engines", {}))
    ours.close()
    print(f"{label:42} {mine:9.3f} {theirs:9.3f} {mine / theirs:6.2f}  {apart:.1e} {engines}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--only", default="", help="part of a row's name")
    args = parser.parse_args()
    print(f"{'':42} {'ours ms':>9} {'ort ms':>9} {'ratio':>6}  apart")
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "m.onnx")
        for op in GATES:
            for wide in (64, 256, 512):
                for batch in (1, 16):
                    for directions in (1, 2):
                        for lengths in (False, True):
                            label = (f"{op.lower()} {wide} batch {batch} "
                                     f"{'both' if directions == 2 else 'forward'}"
                                     f"{' lengths' if lengths else ''}")
                            if args.only in label:
                                feeds = recurrent(op, wide, batch, directions, lengths,
                                                  args.steps, path)
                                race(label, feeds, path, args)
        for equation, dims in EINSUMS.items():
            if args.only in f"einsum {equation}":
                race(f"einsum {equation}", einsum(equation, dims, path), path, args)


if __name__ == "__main__":
    main()
