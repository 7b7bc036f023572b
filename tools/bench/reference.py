#!/usr/bin/env python3
"""Makes seeded inputs for reference models and ONNX Runtime's outputs on them.

For each MODEL it writes build/reference/MODEL/input_NAME.npy, output_NAME.npy and reference.json:
  {"inputs": {name: file}, "outputs": {name: file}, "model_sha256", "seed", "onnxruntime"}
with files relative to that folder. What is already there for the same model, seed and runtime
is kept. Models that are missing are made available by models.py.

Examples:
  tools/bench/reference.py lenet ppocr_det
  tools/bench/reference.py                    # all fifteen
"""
import argparse
import json
import os
import pathlib
import re
import sys

import project_venv

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

import feeds  # noqa: E402
import models  # noqa: E402

DEFAULT_DIR = project_venv.ROOT / "build" / "reference"


def file_name(tensor):
    """A tensor's name as a file name: what is outside [A-Za-z0-9._-] becomes "_"."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", tensor) + ".npy"


def save(path, array):
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with open(partial, "wb") as f:
        np.save(f, array)
    partial.rename(path)


def run_onnxruntime(model, feed):
    """{output name: array}, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [out.name for out in session.get_outputs()]
    return dict(zip(names, session.run(names, feed)))


def load(folder):
    """reference.json of `folder`, or None where it is absent, broken or incomplete."""
    try:
        known = json.loads((folder / "reference.json").read_text())
        files = [*known["inputs"].values(), *known["outputs"].values()]
    except (OSError, ValueError, KeyError):
        return None
    return known if all((folder / file).is_file() for file in files) else None


def ensure(name, seed=0, directory=DEFAULT_DIR, say=print):
    """Makes the reference of one model; returns (model path, folder, reference.json's object)."""
    model = models.ensure([name], say=say)[name]
    folder = pathlib.Path(directory) / name
    key = {"model_sha256": models.rows_named([name])[0]["sha256"], "seed": seed,
           "onnxruntime": onnxruntime.__version__}
    known = load(folder)
    if known and all(known.get(k) == v for k, v in key.items()):
        return model, folder, known
    say(f"running {name} in ONNX Runtime {onnxruntime.__version__}")
    feed = feeds.make(name, seed)
    outputs = run_onnxruntime(model, feed)
    folder.mkdir(parents=True, exist_ok=True)
    known = {"inputs": {k: "input_" + file_name(k) for k in feed},
             "outputs": {k: "output_" + file_name(k) for k in outputs}, **key}
    for tensors, side in ((feed, "inputs"), (outputs, "outputs")):
        for tensor, array in tensors.items():
            save(folder / known[side][tensor], array)
    partial = folder / f".reference.json.{os.getpid()}"
    partial.write_text(json.dumps(known, indent=2) + "\n")
    partial.rename(folder / "reference.json")
    return model, folder, known


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="default: all fifteen")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    try:
        names = [row["name"] for row in models.rows_named(args.model)]
        for name in names:
            _, folder, known = ensure(name, args.seed, say=lambda s: print(s, flush=True))
            shapes = [f"{k} {'x'.join(map(str, np.load(folder / f, mmap_mode='r').shape))}"
                      for k, f in {**known["inputs"], **known["outputs"]}.items()]
            print(f"{name:<12} {os.path.relpath(folder)}: {', '.join(shapes)}", flush=True)
    except models.ModelError as error:
        sys.stderr.write(f"reference.py: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
