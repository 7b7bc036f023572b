#!/usr/bin/env python3
"""Values that `ge dump --values` records, those inside of fused segments too, against the tensors of
the same name that ONNX Runtime makes of the model as it stands: no optimization, every value an
output. A value whose name is the model's must be the model's value, within 1e-4 of the largest
magnitude; nine of ten recorded floats must bear such a name. NumPy and zipfile read the file.

Prints a line a model and, last, the counts.

Example: tests/e2e/capsule/inner_values.py --build build/release lenet squeezenet
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime as ort  # noqa: E402

BOUND = 1e-4
NAMED = 0.9


def run(*words, code=0):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != code:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr[:500]}")
    return done.stdout


def all_made(path, folder):
    """The model with every value that a node of the main graph makes as an output."""
    model = onnx.load(path, load_external_data=False)
    have = {o.name for o in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in have:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
                have.add(name)
    out = pathlib.Path(folder) / "all.onnx"
    onnx.save(model, out)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return ort.InferenceSession(str(out), options, providers=["CPUExecutionProvider"])


def compare(path, capsule, folder):
    """Names of wrong values, how many floats were compared, how many were recorded."""
    with zipfile.ZipFile(capsule) as file:
        broken = file.testzip()
        if broken:
            raise RuntimeError(f"{capsule}: member {broken} is broken")
        manifest = json.loads(file.read("manifest.json"))
    arrays = np.load(capsule)
    read = lambda t: arrays[t["member"].removesuffix(".npy")]
    session = all_made(path, folder)
    feeds = {t["name"]: read(t) for t in manifest["inputs"]}
    names = [o.name for o in session.get_outputs()]
    made = dict(zip(names, session.run(names, feeds)))
    wrong, named, floats = [], 0, 0
    for t in manifest["values"]:
        if t["dtype"] != "f32":
            continue
        floats += 1
        want = made.get(t["name"])
        if want is None:
            continue
        got = read(t)
        named += 1
        if want.size != got.size:
            wrong.append(f"{t['name']}: {got.shape}, wanted {want.shape}")
            continue
        apart = np.abs(got.reshape(want.shape).astype(np.float64) - want.astype(np.float64))
        largest = np.abs(want[np.isfinite(want)]).max(initial=0)
        if apart.max(initial=0) > BOUND * max(largest, 1e-30):
            wrong.append(f"{t['name']}: {apart.max():.3g} apart where the largest is {largest:.3g}")
    return wrong, named, floats


def inputs_of(name):
    """--input words that give a model of the table its sizes there; values are random."""
    words = []
    for model in json.loads((ROOT / "tools" / "bench" / "models.json").read_text()):
        if model["name"] != name:
            continue
        for feed, what in model.get("feeds", {}).items():
            if what["shape"]:
                words += ["--input", f"{feed}={'x'.join(map(str, what['shape']))}:rand"]
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("models", nargs="*", default=["lenet", "mlp", "squeezenet"])
    args = parser.parse_args()
    ge = ROOT / args.build / "bin" / "ge"
    passed = failed = 0
    for name in args.models:
        path = name if name.endswith(".onnx") else ROOT / "build" / "models" / f"{name}.onnx"
        with tempfile.TemporaryDirectory() as folder:
            capsule = pathlib.Path(folder) / "run.gecap"
            run(ge, "dump", path, "--values", "-o", capsule, *inputs_of(name))
            wrong, named, floats = compare(path, capsule, folder)
        share = named / max(1, floats)
        good = not wrong and share >= NAMED
        print(f"{pathlib.Path(name).stem:16} {floats:5} floats, {share:6.1%} named, "
              f"{len(wrong)} wrong{'' if good else '  FAILED'}")
        for line in wrong[:8]:
            print(f"    {line}")
        passed += good
        failed += not good
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
