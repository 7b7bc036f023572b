#!/usr/bin/env python3
"""Random models against ONNX Runtime: each is written as ONNX by `ge dump --format onnx`, accepted by
the ONNX checker, run by ONNX Runtime, and compared with what the reference engine gave, within the
tolerance that the model's own noise sets (ge-test --random-models --save).

A model that ONNX Runtime refuses is counted as skipped (--list says why), and so is one with a node
in which, alone and on the same inputs, ONNX Runtime differs from onnx's own reference evaluator while
we agree with it, or, where that evaluator is no judge, from itself, asked the same in another way
(peers_way). At least a tenth of the models must be judged. Prints each fault and the counts.

Examples:
  tests/e2e/all/models/random_models_ort.py
  tests/e2e/all/models/random_models_ort.py --count 50 --seed 7
"""
import argparse
import collections
import copy
import multiprocessing
import os
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

BIN = ROOT / "build" / "release" / "bin"
LEAST_JUDGED = 0.1  # of the models; 0.2 are, the others have some node that ONNX Runtime refuses
# Operators that multiply codes: the inputs that are weights, and the zero point of each.
WEIGHTS = {"DynamicQuantizeMatMul": {1: 3}, "MatMulIntegerToFloat": {1: 5}, "QAttention": {1: 7},
           "DynamicQuantizeLSTM": {1: 9, 2: 11}}
RECURRENT = ("RNN", "GRU", "LSTM", "DynamicQuantizeLSTM")


def typed(array, dtype):
    """Types that NumPy lacks are stored as unsigned numbers of as many bits."""
    import ml_dtypes
    kinds = {16: ml_dtypes.bfloat16, 17: ml_dtypes.float8_e4m3fn, 18: ml_dtypes.float8_e4m3fnuz,
             19: ml_dtypes.float8_e5m2, 20: ml_dtypes.float8_e5m2fnuz}
    return array.view(kinds[dtype]) if dtype in kinds else array


def wide(array):
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64)


def quantized(model):
    """Outputs of com.microsoft's operators on 8-bit codes. QuickGelu and the like are of floats."""
    return {o for n in model.graph.node
            if n.domain == "com.microsoft" and n.op_type.startswith(("QLinear", "QGemm"))
            for o in n.output}


def peer(model, feed):
    """ONNX Runtime's outputs, its optimisations off."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def alike(a, b):
    if any(isinstance(v, (list, dict)) or v is None for v in (a, b)):
        return True  # nothing is said about sequences
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and np.allclose(wide(a), wide(b), rtol=2e-3, atol=1e-4, equal_nan=True)


def alone(model, node, inputs):
    """A model of one node on these arrays."""
    def named(name, array):
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)
        return onnx.helper.make_tensor_value_info(name, kind, np.asarray(array).shape)
    outputs = [onnx.ValueInfoProto(name=o) for o in node.output if o]
    graph = onnx.helper.make_graph([node], "alone", [named(n, a) for n, a in inputs.items()], outputs)
    return onnx.helper.make_model(graph, opset_imports=model.opset_import,
                                  ir_version=model.ir_version)


def ours(model, inputs, folder):
    """Outputs of ref."""
    path, known = folder / "alone.onnx", {"inputs": {}}
    onnx.save(model, path)
    for i, (name, array) in enumerate(inputs.items()):
        known["inputs"][name] = f"alone_{i}.npy"
        np.save(folder / known["inputs"][name], array)
    ge_run.run(BIN / "ge", path, folder, known, "ref", output=folder / "alone")
    return [np.load(folder / "alone" / reference.file_name(o.name)) for o in model.graph.output]


def known_fault(node, inputs):
    """What ONNX Runtime 1.32 does wrong where ONNX's reference evaluator is no judge."""
    given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    # SAME has ceil(size / stride) results, whatever the dilation; the evaluator leaves zeros there.
    if node.op_type in ("AveragePool", "MaxPool") and max(given.get("dilations", [1])) > 1:
        return given.get("auto_pad", b"").startswith(b"SAME")
    # A target to which no leaf adds has its base value left out, and of a leaf's votes for an only target
    # the first alone counts; the evaluator does not run it.
    if node.op_type == "TreeEnsembleRegressor":
        leaves = list(zip(given["target_treeids"], given["target_nodeids"]))
        return len(given.get("base_values", [])) > 1 or len(set(leaves)) < len(leaves)
    # Of equal numbers the variance is 0; the evaluator takes E[x^2] - E[x]^2, too, which may be less.
    if node.op_type == "MeanVarianceNormalization":
        spread = np.ptp(wide(inputs[node.input[0]]), axis=tuple(given.get("axes", [0, 2, 3])))
        return bool(np.any(spread == 0))
    # A product of no terms is not written: what lies there, by chance, may be its zeros.
    if node.op_type == "MatMul" and np.shape(inputs[node.input[0]])[-1] == 0:
        return True
    # transB is not looked at: a square weight is read as of transB 1, and another is refused.
    if node.op_type == "MatMulBnb4" and not given.get("transB", 1):
        return True
    # Behind a past, queries of another number than keys: not the plain sums, of no bias and no mask either.
    if node.op_type == "MultiHeadAttention" and len(node.input) > 6 and node.input[6]:
        return np.shape(inputs[node.input[0]])[1] != np.shape(inputs[node.input[1]])[1]
    # The zero point is added to a code that is clamped already, and what is beyond 255 wraps around.
    if node.op_type == "QLinearSoftmax":
        scale, zero = (wide(np.asarray(inputs[node.input[i]])).ravel()[0] for i in (3, 4))
        return min(1 / scale, 255) + zero > 255
    # All votes for one of two classes that have base values: its label is that of the lesser score.
    return (node.op_type == "TreeEnsembleClassifier" and len(given.get("base_values", [])) == 2 and
            len(set(given["class_ids"])) == 1)


def has_nan(array):
    return isinstance(array, np.ndarray) and array.dtype.kind in "fc" and bool(np.isnan(array).any())


def normalizes_inside(graph, inside=False):
    """Whether a body, whose values cannot be seen, has a MeanVarianceNormalization; see known_fault."""
    return any((inside and n.op_type == "MeanVarianceNormalization")
               or any(normalizes_inside(a.g, True) for a in n.attribute if a.HasField("g"))
               for n in graph.node)


def quantizes_nothing(graph, outer=frozenset()):
    """Whether a body has a DynamicQuantizeLinear of no element: ONNX Runtime's scale is then 1, where
    ONNX's evaluator has 1 / 255 for extremes that are equal."""
    types = [*graph.input, *graph.value_info]
    empty = outer | {v.name for v in types
                     if any(d.HasField("dim_value") and d.dim_value == 0
                            for d in v.type.tensor_type.shape.dim)}
    return any((n.op_type == "DynamicQuantizeLinear" and n.input[0] in empty)
               or any(quantizes_nothing(a.g, empty) for a in n.attribute if a.HasField("g"))
               for n in graph.node)


def unsigned(model, node, inputs):
    """(A model of the node, its inputs) with weights of int8 written as uint8, which are the same numbers
    less a zero point that is 128 more; None where it has none. Without VNNI ONNX Runtime adds products
    of uint8 and int8 in pairs in 16 bits, which saturate; those of uint8 and uint8 do not."""
    node, inputs, found = copy.deepcopy(node), dict(inputs), False
    for weight, zero in WEIGHTS.get(node.op_type, {}).items():
        codes = np.asarray(inputs[node.input[weight]])
        if codes.dtype != np.int8:
            continue
        node.input.extend([""] * (zero + 1 - len(node.input)))
        before = np.asarray(inputs[node.input[zero]] if node.input[zero] else np.int8(0))
        for at, array in ((weight, codes), (zero, before)):
            node.input[at] = f"unsigned_{at}"
            inputs[node.input[at]] = np.asarray((array.astype(np.int16) + 128).astype(np.uint8))
        found = True
    inputs = {n: inputs[n] for n in node.input if n}
    return (alone(model, node, inputs), inputs) if found else None


def peers_way(model, node, inputs, mine):
    """Whether ONNX Runtime would answer `mine`, the outputs of ref, but for two ways of its own: pairs of
    codes that saturate, and a last state of zeros where a sequence has no step (we hand on the initial
    one; ONNX says nothing). `mine` must agree with ONNX Runtime without them."""
    again = unsigned(model, node, inputs) or (alone(model, node, inputs), inputs)
    lengths = inputs.get(node.input[4]) if node.op_type in RECURRENT and len(node.input) > 4 else None
    theirs, mine = peer(*again), [np.array(array) for array in mine]
    if lengths is not None:
        # Outputs are Y [steps, directions, batch, hidden], and last states [directions, batch, hidden].
        for array in mine:
            if array.ndim == 3:
                array[:, np.asarray(lengths) == 0] = 0
    return all(map(alike, mine, theirs))


def peers_fault(model, feed, folder):
    """"" or the operator in which ONNX Runtime alone differs from ONNX's reference. Nodes of bodies
    cannot be run alone."""
    if quantizes_nothing(model.graph):
        return "DynamicQuantizeLinear of an empty tensor"
    whole, outputs = copy.deepcopy(model), {o.name for o in model.graph.output}
    whole.graph.output.extend(onnx.ValueInfoProto(name=o) for n in model.graph.node
                              for o in n.output if o and o not in outputs)
    values = {**feed, **{i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer},
              **dict(zip([o.name for o in whole.graph.output], peer(whole, feed)))}
    if normalizes_inside(model.graph) and any(map(has_nan, peer(model, feed))):
        return "MeanVarianceNormalization in a body"
    for node in model.graph.node:
        inputs = {i: values[i] for i in node.input if i}
        try:
            one_node = alone(model, node, inputs)
            if known_fault(node, inputs):
                theirs, mine = [values[o.name] for o in one_node.graph.output], ours(one_node, inputs, folder)
                if node.op_type == "MatMul" and not np.any(mine[0]):
                    return node.op_type
                if not all(map(alike, theirs, mine)):
                    return node.op_type
                continue
            if node.op_type in WEIGHTS or node.op_type in RECURRENT:
                theirs, mine = [values[o.name] for o in one_node.graph.output], ours(one_node, inputs, folder)
                if not all(map(alike, theirs, mine)) and peers_way(model, node, inputs, mine):
                    return node.op_type
            want = ReferenceEvaluator(one_node).run(None, inputs)
            if all(map(alike, [values[o.name] for o in one_node.graph.output], want)):
                continue
            if all(map(alike, ours(one_node, inputs, folder), want)):
                return node.op_type
        except Exception:  # what the evaluator or a single node cannot say
            continue
    return ""


def why_different(found, folder, model, allowed):
    # By position: a name that an input or a body has too was changed by the export.
    for value, got, (name, bound, unsettled) in zip(model.graph.output, found, allowed):
        path = folder / "expected" / f"{name}.npy"
        want = typed(np.load(path), value.type.tensor_type.elem_type)
        got = typed(np.asarray(got), value.type.tensor_type.elem_type)  # some come as their bits
        if got.shape != want.shape:
            return f"output {value.name} is {list(got.shape)}, wanted {list(want.shape)}"
        a, b = wide(got), wide(want)
        finite = np.isfinite(a) & np.isfinite(b)
        # NaN where NaN is wanted and each infinity with its sign, but for what noise alone decides.
        other = int(np.sum(~finite & ~(np.isnan(a) & np.isnan(b)) & ~(a == b)))
        if other > unsettled:
            return (f"output {name}: {other} elements are not finite on one side alone, "
                    f"allowed {unsettled}")
        if finite.any():
            apart = float(np.max(np.abs(a[finite] - b[finite])))
            # Two engines, each with its own rounding; one more step of a 16-bit type is no fault.
            bound = max(4 * bound, 0.01 if want.dtype.itemsize == 2 else 0)
            # Of its quantized operators ONNX Runtime computes some by tables of its own: one code.
            if name in quantized(model) and want.dtype.kind in "iu":
                bound = max(bound, 1)
            if apart > bound:
                return f"output {name} differs by {apart:.3g}, allowed {bound:.3g}"
    return ""


def one(folder, exported):
    """(verdict, sentence): "passed", "failed" or "skipped"."""
    done = subprocess.run([BIN / "ge", "dump", folder / "graph.gt", "--format", "onnx", "--to",
                           "rewrite", "-o", exported], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return "failed", f"export: {done.stdout.strip().splitlines()[0]}"
    try:
        onnx.checker.check_model(str(exported))
    except Exception as error:
        text = str(error).strip().splitlines()[0]
        # An operator of ONNX Runtime alone; a result of a branch whose rank nothing tells.
        known = "No Op registered" in text or "Field 'shape'" in text
        return ("skipped" if known else "failed"), f"checker: {text}"
    model = onnx.load(exported)
    feed = {v.name: typed(np.load(folder / f"{v.name}.npy"), v.type.tensor_type.elem_type)
            for v in model.graph.input}
    allowed = [(name, float(bound), int(unsettled)) for name, bound, unsettled in
               (line.rsplit(" ", 2)
                for line in (folder / "tolerance.txt").read_text().splitlines())]
    try:
        found = peer(model, feed)
    except Exception as error:  # kernels, types and shapes that it does not take
        return "skipped", str(error).strip().splitlines()[0][:160]
    why = why_different(found, folder, model, allowed)
    fault = peers_fault(model, feed, folder) if why else ""
    if fault:
        return "skipped", f"ONNX Runtime differs from ONNX's reference in {fault}"
    return ("failed" if why else "passed"), why


def apart(folder, exported):
    """As one(), in a process of its own: ONNX Runtime ends its process on some models."""
    here, there = multiprocessing.Pipe(duplex=False)

    def judge():
        try:
            there.send(one(folder, exported))
        except Exception as error:  # of this script: no end of ONNX Runtime's making
            there.send(("failed", f"{type(error).__name__}: {error}"))

    child = multiprocessing.get_context("fork").Process(target=judge)
    child.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return "skipped", "ONNX Runtime ended its process"
    finally:
        child.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="say why each was skipped")
    args = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    counts = collections.Counter()
    environment = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory(prefix="ge-random-models.") as save:
        subprocess.run([BIN / "ge-test", "--random-models", str(args.count), "--seed",
                        str(args.seed), "--engines", "ref", "--save", save],
                       stdout=subprocess.DEVNULL, env=environment)
        folders = sorted(p.parent for p in pathlib.Path(save).glob("*/graph.gt"))
        if len(folders) < args.count * 0.9:
            print(f"FAILED  {len(folders)} models were written, wanted {args.count}")
            counts["failed"] += 1
        for folder in folders:
            verdict, text = apart(folder, pathlib.Path(save) / "model.onnx")
            counts[verdict] += 1
            if verdict == "failed" or (args.list and verdict == "skipped"):
                print(f"{verdict.upper():7} seed {args.seed} model {folder.name}: {text}", flush=True)
    judged = counts["passed"] + counts["failed"]
    if judged < LEAST_JUDGED * len(folders):
        print(f"FAILED  {judged} of {len(folders)} models were judged, wanted {LEAST_JUDGED * 100:.0f} %")
        counts["failed"] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
