#!/usr/bin/env python3
"""Real models at several input sizes against ONNX Runtime: the fifteen, six of silero-vad and three
of ddddocr, each at up to five sizes of its dynamic inputs.

Bound: 1e-4 of the largest magnitude that the output has at that size; whole numbers may differ by 1
in 0.1 % of the elements, and outputs of a quantized network by 1/255 of the largest magnitude, more in
0.1 % of them.
Softmax and Sigmoid hide what is before them, or enlarge it: with logits of 5,000 the last bits of one
move a probability by 1e-3, or nothing moves it; and ONNX Runtime's Sigmoid errs by 5e-8 where its
result is 1e-4. So an output of theirs is judged in three steps of that bound, by a second run that
shows the operand: our operand against the peer's, our result against the curve of our operand in double
precision, and the output against the peer's, or else that of the second run.
Prints a row for each model and list of engines and, last, the counts (a model at a size under a list
of engines counts once).

Examples:
  tests/e2e/all/models/sizes.py
  tests/e2e/all/models/sizes.py vad ddddocr --engines ref
  GE_MAX_ISA=avx2 tests/e2e/all/models/sizes.py minilm bert_base --tokens 40 --threads 2
"""
import argparse
import copy
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import compare  # noqa: E402
import feeds  # noqa: E402
import ge_run  # noqa: E402
import models  # noqa: E402
import reference  # noqa: E402

# {input: {axis: sizes}}; where several axes have sizes they change together.
SIZES = {
    "resnet50": {"x": {0: [1, 2, 3, 4, 5]}},
    "mobilenetv2": {"x": {0: [1, 2, 3, 5, 8]}},
    "squeezenet": {"x": {0: [1, 2, 3, 5, 8]}},
    "bert_base": {"ids": {0: [1, 2, 1, 3, 1], 1: [128, 16, 7, 33, 64]}},
    "minilm": {"ids": {0: [1, 2, 1, 3, 4], 1: [128, 16, 7, 33, 64]}},
    "gpt2_small": {"ids": {0: [1, 2, 1, 3, 1], 1: [128, 16, 7, 33, 64]}},
    "lstm": {"x": {0: [64, 1, 7, 16, 30], 1: [1, 2, 3, 4, 8]}},
    "lenet": {"x": {0: [64, 1, 2, 7, 33]}},
    "mlp": {"x": {0: [64, 1, 2, 7, 33]}},
    "ppocr_det": {"x": {0: [1, 1, 1, 2, 1], 2: [640, 320, 96, 160, 480],
                        3: [640, 320, 192, 160, 352]}},
    "ppocr_rec": {"x": {0: [1, 2, 1, 6, 1], 3: [320, 160, 48, 96, 640]}},
    "ppocr_cls": {"x": {0: [1, 2, 3, 6, 16]}},
    "nudenet": {"images": {0: [1, 2, 1, 1, 3], 2: [320, 320, 160, 256, 64],
                           3: [320, 320, 160, 192, 96]}},
    "magika": {"bytes": {0: [1, 2, 3, 5, 8]}},
    "vad": {"input": {0: [1, 2, 3, 5, 8]}, "state": {1: [1, 2, 3, 5, 8]}},
    "vad_16k_op15": {"input": {0: [1, 2, 3, 5, 8]}, "state": {1: [1, 2, 3, 5, 8]}},
    "vad_16k_sequence": {"input": {0: [8, 1, 2, 17, 33]}},
    "vad_half": {"input": {0: [1, 2, 3, 5, 8]}, "state": {1: [1, 2, 3, 5, 8]}},
    "vad_op18_ifless": {"input": {0: [1, 2, 3, 5, 8]}, "state": {1: [1, 2, 3, 5, 8]}},
    "ddddocr": {"input1": {3: [160, 64, 96, 200, 333]}},
    "ddddocr_old": {"input1": {3: [160, 64, 96, 200, 333]}},
}
ENGINES = ["ref", "native,onednn,openblas,ref"]
QUANTUM_SHARE = 0.999
MOVES = {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"}  # of the same elements in their order


class Curve:
    """The Softmax or Sigmoid that makes an output."""

    def __init__(self, node, opset):
        self.operand, self.soft, self.opset = node.input[0], node.op_type == "Softmax", opset
        self.axis = next((a.i for a in node.attribute if a.name == "axis"), -1 if opset >= 13 else 1)

    def of(self, x):
        x = x.astype(np.float64)
        if not self.soft:
            return 1 / (1 + np.exp(-x))
        axis = self.axis
        if self.opset < 13:  # over all of the axes from this one on
            x, axis = x.reshape(int(np.prod(x.shape[:axis])), -1), 1
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)


def curves_of(path, folder):
    """({output: Curve}, a file of the model in which the operands of these are outputs, too)."""
    model = onnx.load(path)
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    makers = {name: node for node in model.graph.node for name in node.output}
    curves = {}
    for output in model.graph.output:
        node = makers.get(output.name)
        while node is not None and node.op_type in MOVES:
            node = makers.get(node.input[0])
        if node is not None and node.op_type in ("Softmax", "Sigmoid"):
            curves[output.name] = Curve(node, opset)
    if not curves:
        return {}, None
    kind = onnx.TensorProto.FLOAT
    model.graph.output.extend(onnx.helper.make_tensor_value_info(n, kind, None)
                              for n in {c.operand for c in curves.values()})
    onnx.save(model, folder / "shown.onnx")
    return curves, folder / "shown.onnx"


def why_different(got, want, largest, quantized):
    """(error as a part of `largest`, "" or why that is too much)."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf"), (f"found {got.dtype}{list(got.shape)}, "
                              f"wanted {want.dtype}{list(want.shape)}")
    if want.size == 0:
        return 0.0, ""
    if np.issubdtype(want.dtype, np.integer):
        apart = np.abs(got.astype(np.int64) - want.astype(np.int64))
        good = apart.max() <= 1 and np.mean(apart == 0) >= QUANTUM_SHARE
        return float(apart.max()), "" if good else f"whole numbers differ by {apart.max()}"
    apart = np.abs(got.astype(np.float64) - want.astype(np.float64)) / (largest or 1)
    worst = float(np.max(apart)) if np.isfinite(apart).all() else float("inf")
    if quantized:
        share = float(np.mean(apart <= 1 / 255))
        return worst, "" if share >= QUANTUM_SHARE else f"{share:.2%} are within one quantum"
    return worst, "" if worst <= compare.BOUND else f"error {worst:.2e}"


def sizes_of(row, tokens):
    """The row's feeds at each size; with `tokens`, at 1 to so many of them in one text."""
    axes = SIZES.get(row["name"], {})
    if tokens:
        axes = {"ids": {0: [1] * tokens, 1: list(range(1, tokens + 1))}}
    count = max([len(s) for by_axis in axes.values() for s in by_axis.values()], default=1)
    for k in range(count):
        sized = copy.deepcopy(row["feeds"])
        for name, by_axis in axes.items():
            for axis, sizes in by_axis.items():
                sized[name]["shape"][axis] = sizes[k]
        yield sized


def outputs_of(args, model, sized, seed, engines, folder):
    """{output: (ours, ONNX Runtime's)} of one run."""
    arrays = feeds.of_feeds(sized, seed)
    known = {"inputs": {}}
    for name, array in arrays.items():
        known["inputs"][name] = "input_" + reference.file_name(name)
        np.save(folder / known["inputs"][name], array)
    wanted = reference.run_onnxruntime(model, arrays)
    ge_run.run(args.ge, model, folder, known, engines, output=folder / "out",
               options=["--threads", str(args.threads)])
    return {n: (np.load(folder / "out" / reference.file_name(n)), w) for n, w in wanted.items()}


def share(got, want):
    """why_different by the largest magnitude of `want`."""
    return why_different(got, want, float(np.max(np.abs(want), initial=0)), False)


def judge_curve(name, curve, outputs, shown):
    """(error, why) of an output that a curve makes; `shown`: outputs of the run that shows the operand."""
    (got, want), (again, _), (operand, peers) = outputs[name], shown[name], shown[curve.operand]
    curved = curve.of(operand).astype(got.dtype)
    steps = [(f"output {name}", share(got, want)),
             (f"operand {curve.operand}", share(operand, peers)),
             (f"output {name} of its operand", share(again.ravel(), curved.ravel()))]
    if steps[0][1][1] and (got.shape, got.dtype) == (want.shape, want.dtype):
        steps[0] = (f"output {name} beside its operand", share(got, again))
    return max(error for _, (error, _) in steps), next((f"{at}: {why}" for at, (_, why) in steps if why), "")


def judge(row, curves, outputs, shown):
    """(worst error, why) of all outputs of a run."""
    worst, reason = 0.0, ""
    for name, (got, want) in outputs.items():
        if name in curves:
            error, why = judge_curve(name, curves[name], outputs, shown)
        else:
            largest = float(np.max(np.abs(want), initial=0))
            error, why = why_different(got, want, largest, "quantized" in row)
            why = f"output {name}: {why}" if why else ""
        worst, reason = max(worst, error), reason or why
    return worst, reason


def compare_sizes(args, row, model, engines, curves, showing):
    """A model under one list of engines: (worst error, [(shapes, why) of each size])."""
    verdicts, worst = [], 0.0
    for seed, sized in enumerate(sizes_of(row, args.tokens)):
        shapes = {n: f["shape"] for n, f in sized.items()}
        with tempfile.TemporaryDirectory(prefix="ge-sizes.") as folder:
            folder = pathlib.Path(folder)
            try:
                outputs = outputs_of(args, model, sized, seed, engines, folder)
                shown = outputs_of(args, showing, sized, seed, engines, folder) if curves else {}
            except (ge_run.RunError, OSError) as problem:
                verdicts.append((shapes, str(problem)))
                continue
        error, why = judge(row, curves, outputs, shown)
        worst = max(worst, error)
        verdicts.append((shapes, why))
    return worst, verdicts


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="default: all twenty-four")
    parser.add_argument("--engines", action="append", metavar="LIST",
                        help="may be repeated (default: ref; all four)")
    parser.add_argument("--tokens", type=int, default=0, metavar="N",
                        help="texts of 1 to N tokens, for models whose input is `ids`")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    args = parser.parse_args()
    args.engines = args.engines or ENGINES
    return args


def main():
    args = parse_arguments()
    names = args.model or list(models.table())
    try:
        paths = models.ensure(names, say=lambda s: print(s, file=sys.stderr))
    except models.ModelError as problem:
        sys.exit(f"sizes.py: {problem}")
    passed = failed = 0
    for row in models.rows_named(names):
        with tempfile.TemporaryDirectory(prefix="ge-sizes.") as folder:
            path, curves, showing = paths[row["name"]], {}, None
            if "quantized" not in row:
                curves, showing = curves_of(path, pathlib.Path(folder))
            for engines in args.engines:
                worst, verdicts = compare_sizes(args, row, path, engines, curves, showing)
                for shapes, why in verdicts:
                    passed, failed = passed + (not why), failed + bool(why)
                    if why:
                        print(f"FAILED  {row['name']} {shapes} on {engines}: {why}")
                print(f"{row['name']:18} {engines:28} {len(verdicts)} sizes, worst error {worst:.2e}",
                      flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
