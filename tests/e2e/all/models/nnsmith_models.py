#!/usr/bin/env python3
"""Random models of nnsmith (PyPI): `ref`, and all four engines, against ONNX Runtime.

Floats agree within 1e-3 (f16: 1e-2) of the output's largest finite magnitude, other types exactly; NaN
and infinities stand where they stand in the peer's. A difference counts as one only if the peer
agrees with itself: random graphs divide by what is nearly zero, so its outputs for inputs that are
moved by some last bits, and with its optimisations off, tell how far each output can be
trusted. Of an output that still differs, the same is asked of functions' results within the graph: in
1 + Erf(x) the last bits of Erf may be all that is left. ONNX Runtime computes chains of float16 in
float32 and rounds what it shows, not what it goes on with: Ceil(v - 1) is 0 where v - 1 is shown as
-1. An output of a float16 model that differs may therefore agree, within the same bound, with onnx's
own evaluator, which rounds each tensor. Where ONNX Runtime lacks a kernel, the four engines are
compared with `ref` alone. Prints each fault and, last, the counts.

Examples:
  tests/e2e/all/models/nnsmith_models.sh --setup       # makes build/venv-nnsmith (PyTorch: some gigabytes)
  tests/e2e/all/models/nnsmith_models.py --count 100
  tests/e2e/all/models/nnsmith_models.py --folder some/folder   # models that are already written
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import ge_run  # noqa: E402
import reference  # noqa: E402

PYTHON = ROOT / "build" / "venv-nnsmith" / "bin" / "python"
ENGINES = ["ref", "native,onednn,openblas,ref"]
BOUND = {"float16": 1e-2}  # else 1e-3
# What no format holds exactly, whatever the operands: sums and products of whole numbers are exact.
FUNCTIONS = {"Acos", "Asin", "Atan", "Cos", "Elu", "Erf", "Exp", "Log", "Pow", "Selu", "Sigmoid", "Sin",
             "Softmax", "Softplus", "Sqrt", "Tan", "Tanh"}


def inputs_of(graph, seed):
    """{name: array} with numbers from -1 to 1 (integers: -8 to 8, or 0 to 8)."""
    random, out = np.random.default_rng(seed), {}
    for value in graph.input:
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if kind.kind == "b":
            out[value.name] = np.asarray(random.random(shape) < 0.5)
        elif kind.kind == "f":
            out[value.name] = np.asarray(random.uniform(-1, 1, shape)).astype(kind)
        else:
            low = 0 if kind.kind == "u" else -8
            out[value.name] = np.asarray(random.integers(low, 9, shape)).astype(kind)
    return out


def peer(path, feed, optimised):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def moved(feed, random):
    """The feed with its floats off by some two last bits."""
    return {n: np.asarray(a * (1 + 2 * np.finfo(a.dtype).eps * random.standard_normal(a.shape)))
            .astype(a.dtype) if a.dtype.kind == "f" else a for n, a in feed.items()}


def shaken(path, random, folder):
    """A file of the model in which the results of FUNCTIONS are off by some two last bits."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    kinds = {v.name: v.type.tensor_type.elem_type for v in [*model.graph.value_info, *model.graph.output]}
    nodes = []
    for node in model.graph.node:
        nodes.append(node)
        if node.op_type not in FUNCTIONS or node.output[0] not in kinds:
            continue
        name = node.output[0]
        kind = onnx.helper.tensor_dtype_to_np_dtype(kinds[name])
        factor = np.asarray(1 + 2 * np.finfo(kind).eps * random.standard_normal(), kind)
        node.output[0] = f"{name}_before"
        model.graph.initializer.append(onnx.numpy_helper.from_array(factor, f"{name}_factor"))
        nodes.append(onnx.helper.make_node("Mul", [node.output[0], f"{name}_factor"], [name]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, folder / "shaken.onnx")
    return folder / "shaken.onnx"


def apart(a, b):
    """Greatest difference relative to the largest finite magnitude of b; inf where only one is finite
    or the shapes differ."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return np.inf
    if a.dtype.kind != "f":
        return 0.0 if np.array_equal(a, b) else np.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(finite, np.isfinite(a)) or not np.array_equal(
            a[~finite], b[~finite], equal_nan=True):
        return np.inf
    if not finite.any():
        return 0.0
    scale = max(np.max(np.abs(b[finite])), np.finfo(np.float32).tiny)
    return float(np.max(np.abs(a[finite] - b[finite])) / scale)


def ours(args, path, feed, engines, folder):
    """Outputs in the model's order; ge_run.RunError with a sentence."""
    known = {"inputs": {}}
    for i, (name, array) in enumerate(feed.items()):
        known["inputs"][name] = f"in{i}.npy"
        np.save(folder / known["inputs"][name], array)
    ge_run.run(args.ge, path, folder, known, engines, ["--threads", "1"], folder / "out")
    return [np.load(folder / "out" / reference.file_name(v.name))
            for v in onnx.load(path).graph.output]


def judge(path, want, again, runs, rounded=None):
    """"" or the first output that differs; `again`: the peer's other answers; `rounded`:
    answers with which an output may agree instead."""
    trusted = [4 * max(apart(other[i], w) for other in again) for i, w in enumerate(want)]
    for engines, found in runs:
        for i, (value, got, w) in enumerate(zip(onnx.load(path).graph.output, found, want)):
            difference, bound = apart(got, w), BOUND.get(str(np.asarray(w).dtype), 1e-3)
            if rounded is not None and apart(got, rounded[i]) <= bound:
                continue
            if difference > max(bound, trusted[i]):
                return f"{engines}: output {value.name} differs by {difference:.3g}"
    return ""


def one(args, path, folder):
    """(verdict, sentence): "passed", "ref alone" (the peer lacks a kernel) or "failed"."""
    random = np.random.default_rng(1)
    feed = inputs_of(onnx.load(path).graph, int(path.stem))
    try:
        runs = [(engines, ours(args, path, feed, engines, folder)) for engines in ENGINES]
    except ge_run.RunError as problem:
        return "failed", str(problem)
    try:
        want = peer(path, feed, True)
        again = [peer(path, feed, False),
                 *(peer(path, moved(feed, random), False) for _ in range(4))]
        verdict = "passed"
    except Exception as error:
        if "NOT_IMPLEMENTED" not in str(error):
            return "skipped", f"ONNX Runtime: {str(error).strip().splitlines()[0][:160]}"
        want, verdict = runs[0][1], "ref alone"
        again = [ours(args, path, moved(feed, random), "ref", folder) for _ in range(4)]
    why = judge(path, want, again, runs)
    if why:
        try:
            again += [peer(shaken(path, random, folder), feed, False) for _ in range(4)]
        except Exception as error:  # the peer lacks a kernel: nothing more is known
            print(f"model {path.stem}: not shaken: {str(error).strip().splitlines()[0][:160]}")
        why = judge(path, want, again, runs)
    if why and any(a.dtype == np.float16 for a in feed.values()):
        try:
            rounded = ReferenceEvaluator(onnx.load(path)).run(None, feed)
            why = judge(path, want, again, runs, rounded)
        except Exception as error:  # the evaluator lacks an operator: what differs stays a fault
            print(f"model {path.stem}: not evaluated: {str(error).strip().splitlines()[:1]}")
    return ("failed", why) if why else (verdict, "")


def written(args, folder):
    if args.folder:
        return args.folder
    subprocess.run([PYTHON, pathlib.Path(__file__).with_name("nnsmith_write.py"), folder, "--count",
                    str(args.count), "--seed", str(args.seed)], check=True,
                   stderr=subprocess.DEVNULL)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, help="of SEED.onnx files; none are written")
    parser.add_argument("--ge", default=ROOT / "build" / "release" / "bin" / "ge")
    args = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    counts, seen, nodes = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="ge-nnsmith.") as folder:
        folder = pathlib.Path(folder)
        for path in sorted(written(args, folder / "models").glob("*.onnx"),
                           key=lambda p: int(p.stem)):
            verdict, text = one(args, path, folder)
            counts[verdict] += 1
            kinds = [n.op_type for n in onnx.load(path).graph.node]
            seen.update(kinds)
            nodes += len(kinds)
            if text:
                print(f"{verdict.upper():7} model {path.stem}: {text}", flush=True)
    print(f"{nodes} nodes of {len(seen)} operators; {counts['ref alone']} of the passed against ref "
          "alone, since ONNX Runtime lacks a kernel")
    print(f"{counts['passed'] + counts['ref alone']} passed, {counts['failed']} failed, "
          f"{counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
