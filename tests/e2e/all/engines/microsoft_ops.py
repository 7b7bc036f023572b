#!/usr/bin/env python3
"""Runs one-node models of com.microsoft's operators through ONNX Runtime and `ge run`.

ONNX Runtime runs without graph optimizations. Floats must agree within 1e-4 of the largest
magnitude (or within the bound that a case states), quantized numbers within one quantum and all but
one in a thousand of them exactly or by one, other integers exactly. Where ONNX Runtime has no CPU
kernel, the case holds the answer. Half of the models leave the sizes of their inputs open. The seed
is printed; microsoft_cases.py has the cases.

Examples:
  microsoft_ops.py
  microsoft_ops.py --op Attention --verbose
  microsoft_ops.py --engines ref --engines onednn,ref --seed 7
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import helper  # noqa: E402

import microsoft_cases  # noqa: E402

GE = project_venv.ROOT / "build" / "release" / "bin" / "ge"
BOUND = 1e-4
QUANTA_SHARE = 0.999  # of quantized numbers that may be off by at most one
ONNX_OPSET = 20


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def model_of(case, symbolic):
    """The model, and the arrays of its inputs that are no initializers."""
    inputs, initializers, names, feeds = [], [], [], {}
    for name, array, constant in case.inputs:
        names.append("" if array is None else name)
        if array is None:
            continue
        if constant:
            initializers.append(onnx.numpy_helper.from_array(array, name))
            continue
        dims = [f"{name}_{i}" for i in range(array.ndim)] if symbolic else list(array.shape)
        inputs.append(helper.make_tensor_value_info(name, type_of(array), dims))
        feeds[name] = array
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(case.op, names, [n for n, _ in case.outputs], name="node",
                            domain=case.domain, **case.attrs)
    outputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), None)
               for n, t in case.outputs if n]
    graph = helper.make_graph([node], "one", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", case.opset or ONNX_OPSET), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feeds


def answer_of_onnxruntime(path, feeds, shared):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    if not shared:
        return session.run(None, feeds)
    kept = {name: np.copy(array) for name, array in feeds.items()}  # values do not own their memory
    values = {n: onnxruntime.OrtValue.ortvalue_from_numpy(a) for n, a in kept.items()}
    binding = session.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for output in session.get_outputs():
        if output.name in shared:
            binding.bind_ortvalue_output(output.name, values[shared[output.name]])
        else:
            binding.bind_output(output.name)
    session.run_with_iobinding(binding)
    return [np.copy(value.numpy()) for value in binding.get_outputs()]


def answer_of_ge(path, feeds, names, engines, folder):
    command = [str(GE), "run", str(path), "--engines", engines, "--prices", "analytic",
               "--output", str(folder)]
    for name, array in feeds.items():
        np.save(folder / f"in_{name}.npy", array)
        command += ["--input", f"{name}={folder / f'in_{name}.npy'}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=120)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise ValueError(f"ge run: exit {done.returncode}: {lines[0]}")
    return [np.load(folder / f"{name}.npy") for name in names]


def difference(got, want, case):
    """What is wrong, or ""."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"found {got.dtype}{list(got.shape)}, wanted {want.dtype}{list(want.shape)}"
    if want.size == 0:
        return ""
    off = np.abs(got.astype(np.float64) - want.astype(np.float64))
    if not np.isfinite(off).all():
        return "a number is not finite"
    if want.dtype.kind == "f":
        largest = float(np.max(np.abs(want)))
        error = float(np.max(off)) / (largest if largest > 0 else 1)
        bound = case.bound or BOUND
        return "" if error <= bound else f"error {error:.2e}, wanted at most {bound:g}"
    if not case.quantized:
        return "" if not off.any() else f"off by {int(off.max())}, wanted equal integers"
    share = float(np.mean(off <= 1))
    return "" if share >= QUANTA_SHARE else f"{share:.4f} within one quantum, wanted {QUANTA_SHARE}"


def run_case(case, symbolic, engines):
    """What is wrong, or ""."""
    names = [n for n, _ in case.outputs if n]
    with tempfile.TemporaryDirectory(prefix="ge-microsoft.") as folder:
        folder = pathlib.Path(folder)
        model, feeds = model_of(case, symbolic)
        onnx.save(model, folder / "model.onnx")
        try:
            want = case.answer or answer_of_onnxruntime(folder / "model.onnx", feeds,
                                                         case.shared)
        except Exception as error:  # its exceptions share no base class
            return f"ONNX Runtime: {str(error).splitlines()[0][:300]}"
        try:
            got = answer_of_ge(folder / "model.onnx", feeds, names, engines, folder)
        except (ValueError, OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    wrong = [(n, difference(g, w, case)) for n, g, w in zip(names, got, want)]
    return "; ".join(f"{n}: {why}" for n, why in wrong if why)


def run_operator(name, make, engines, args):
    """How many of its models fail."""
    bad = 0
    for i in range(args.count):
        case = make(microsoft_cases.Maker(name, args.seed * 1000 + i), i)
        why = run_case(case, i % 2 == 1 and not case.fixed, engines)
        bad += bool(why)
        if why or args.verbose:
            print(f"{'FAILED' if why else 'ok':6}  {name} {i}: {case.label()}"
                  f"{': ' + why if why else ''}", flush=True)
    print(f"{name:34} {engines:20} {args.count - bad:3} passed {bad:3} failed", flush=True)
    return bad


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", default="", help="only operators whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=6, help="models of an operator (default 6)")
    parser.add_argument("--engines", metavar="LIST", action="append",
                        help="a comma-separated list; may be repeated (default: ref)")
    parser.add_argument("--verbose", action="store_true", help="a line for each model")
    return parser.parse_args()


def main():
    args = parse_arguments()
    if not GE.exists():
        sys.exit(f"microsoft_ops.py: no {GE}; run: cmake --build --preset release")
    print(f"seed {args.seed}, onnxruntime {onnxruntime.__version__}")
    passed = failed = 0
    begin = time.monotonic()
    for name, make in microsoft_cases.all_makers():
        if args.op and args.op not in name:
            continue
        for engines in args.engines or ["ref"]:
            bad = run_operator(name, make, engines, args)
            passed, failed = passed + args.count - bad, failed + bad
    print(f"{time.monotonic() - begin:.0f} s")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
