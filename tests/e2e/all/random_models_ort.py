#!/usr/bin/env python3
"""Random models against ONNX Runtime: each is written as ONNX by `ge dump --format onnx`, accepted by
the ONNX checker, run by ONNX Runtime, and compared with what the reference engine gave, within the
tolerance that the model's own noise sets (ge-test --random-models --save).

A model that ONNX Runtime refuses is counted as skipped (--list says why). Prints each fault and the counts.

Examples:
  tests/e2e/all/random_models_ort.py
  tests/e2e/all/random_models_ort.py --count 50 --seed 7
"""
import argparse
import collections
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

BIN = ROOT / "build" / "release" / "bin"


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


def why_different(found, folder, model, allowed):
    # By position: a name that an input or a body has too was changed by the export.
    for value, got, (name, bound) in zip(model.graph.output, found, allowed):
        path = folder / "expected" / f"{name}.npy"
        want = typed(np.load(path), value.type.tensor_type.elem_type)
        got = np.asarray(got)
        if got.shape != want.shape:
            return f"output {value.name} is {list(got.shape)}, wanted {list(want.shape)}"
        a, b = wide(got), wide(want)
        finite = np.isfinite(a) & np.isfinite(b)
        if finite.any():
            apart = float(np.max(np.abs(a[finite] - b[finite])))
            # Two engines, each with its own rounding; one more step of a 16-bit type is no fault.
            bound = max(4 * bound, 0.01 if want.dtype.itemsize == 2 else 0)
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
    allowed = [(line.rsplit(" ", 1)[0], float(line.rsplit(" ", 1)[1]))
               for line in (folder / "tolerance.txt").read_text().splitlines()]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(str(exported), options,
                                               providers=["CPUExecutionProvider"])
        found = session.run(None, feed)
    except Exception as error:  # kernels, types and shapes that it does not take
        return "skipped", str(error).strip().splitlines()[0][:160]
    why = why_different(found, folder, model, allowed)
    return ("failed" if why else "passed"), why


def apart(folder, exported):
    """As one(), in a process of its own: ONNX Runtime ends its process on some models."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=lambda: there.send(one(folder, exported)))
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
    parser.add_argument("--count", type=int, default=400)
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
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
