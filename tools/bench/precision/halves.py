#!/usr/bin/env python3
"""Times float16 models against our own float32 and against ONNX Runtime's float16.

Each model of models.json that is named is written anew with float16 weights, inputs and outputs. The
three sides run in separate processes that take turns; a row shows medians, ours over ours in
float32, ours over ONNX Runtime's, and how far outputs are off, relative to the largest
magnitude. Exits 1 where an output is off by more than --bound, or a side fails.

Examples:
  tools/bench/precision/halves.py resnet50 minilm
  tools/bench/precision/halves.py --models build/models --engines onednn,ref --rounds 3 lenet
  tools/bench/precision/halves.py --write some/folder mobilenetv2         # the float16 models alone
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402

import compare  # noqa: E402
import feeds  # noqa: E402
import ge_run  # noqa: E402
import models  # noqa: E402
import reference  # noqa: E402

PEER = pathlib.Path(__file__).resolve().parents[1] / "peer_bench.py"
NAMES = ["resnet50", "mobilenetv2", "squeezenet", "bert_base", "minilm", "gpt2_small", "mlp",
         "lenet", "ppocr_det", "ppocr_rec"]
# Inputs that the operator wants in float32 whatever its data are.
KEPT = {("Resize", 1), ("Resize", 2), ("Upsample", 1)}


def halved(tensor):
    """The float32 tensor in float16; what is beyond its range becomes the largest."""
    array = numpy_helper.to_array(tensor)
    most = np.finfo(np.float16).max
    return numpy_helper.from_array(np.clip(array, -most, most).astype(np.float16), tensor.name)


def to_half(model):
    """Changes a model without bodies from float32 to float16 in place."""
    graph = model.graph
    kept = {name for node in graph.node for i, name in enumerate(node.input)
            if (node.op_type, i) in KEPT}
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and tensor.name not in kept:
            tensor.CopyFrom(halved(tensor))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                raise ge_run.RunError(f"node '{node.name}' has a body, which is not converted")
            floats = attribute.type == onnx.AttributeProto.TENSOR and \
                attribute.t.data_type == TensorProto.FLOAT
            if floats and not kept & set(node.output):
                attribute.t.CopyFrom(halved(attribute.t))
            if node.op_type == "Cast" and attribute.name == "to" and \
                    attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    for value in [*graph.input, *graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    del graph.value_info[:]


def write(name, source, folder):
    """Writes NAME_f16.onnx into `folder`; answers its path."""
    path = folder / f"{name}_f16.onnx"
    if not path.is_file():
        model = onnx.load(source)
        to_half(model)
        onnx.save(model, path)
    return path


def to_stderr(text):
    print(text, file=sys.stderr, flush=True)


class Case:
    """One model in both precisions with its inputs."""

    def __init__(self, name, args, folder):
        self.name, self.args, self.folder = name, args, folder
        self.wide = models.ensure([name], args.models, to_stderr)[name]
        self.half = write(name, self.wide, args.write or folder)
        self.inputs = {}
        for key, array in feeds.make(name).items():
            if array.dtype == np.float32:
                np.save(folder / f"{name}.{key}.f32.npy", array)
                array = array.astype(np.float16)
            np.save(folder / f"{name}.{key}.npy", array)
            self.inputs[key] = folder / f"{name}.{key}.npy"

    def ours(self, half, output=None):
        known = {"inputs": {}}
        for key, path in self.inputs.items():
            wide = self.folder / f"{self.name}.{key}.f32.npy"
            known["inputs"][key] = path.name if half or not wide.is_file() else wide.name
        options = ["--threads", str(self.args.threads), "--repeat", str(self.args.repeat),
                   "--warmup", "3"]
        return ge_run.run(self.args.ge, self.half if half else self.wide, self.folder, known,
                          self.args.engines, options, output)

    def peer(self, save=None):
        command = [sys.executable, str(PEER), "ort", str(self.half),
                   "--threads", str(self.args.threads), "--repeat", str(self.args.repeat)]
        for key, path in self.inputs.items():
            command += ["--input", f"{key}={path}"]
        if save:
            command += ["--save", str(save)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=600, check=False)
        if done.returncode:
            raise ge_run.RunError(f"ONNX Runtime: {done.stderr.strip().splitlines()[-1]}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def error(self):
        """How far ours is from ONNX Runtime's, over the worst output."""
        output, save = self.folder / f"{self.name}.out", self.folder / f"{self.name}.npz"
        self.ours(True, output)
        self.peer(save)
        wanted, worst = np.load(save), 0.0
        names = [v.name for v in onnx.load(self.half, load_external_data=False).graph.output]
        for key, name in zip(wanted.files, names, strict=True):
            got = np.load(output / reference.file_name(name))
            worst = max(worst, compare.error_of(got, wanted[key]))
        return worst

    def row(self):
        """Medians of the rounds in ms: ours, ours in float32, ONNX Runtime's."""
        error, times = self.error(), ([], [], [])
        for _ in range(self.args.rounds):
            times[0].append(self.ours(True)["median_ms"])
            times[1].append(self.ours(False)["median_ms"])
            times[2].append(self.peer()["median_ms"])
        return error, [statistics.median(t) for t in times], times


def spread(one, other):
    """The least and greatest ratio of a round."""
    ratios = [a / b for a, b in zip(one, other)]
    return f"{min(ratios):.2f}-{max(ratios):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--models", type=pathlib.Path, default=models.DEFAULT_DIR)
    parser.add_argument("--write", type=pathlib.Path, help="keep the float16 models in this folder")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    parser.add_argument("--engines", help="as ge run takes them; default: all that are found")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bound", type=float, default=0.01,
                        help="of the outputs' difference; sums of float16 are rounded by up to "
                             "2^-11 each, and ONNX Runtime rounds after more operators")
    args = parser.parse_args()
    failed = False
    print(f"{'model':12} {'ours':>9} {'f32':>9} {'ORT f16':>9} {'/f32':>6} {'':11} {'/ORT':>6} "
          f"{'':11} error")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names:
            try:
                case = Case(name, args, pathlib.Path(folder))
                error, (ours, wide, peer), all_times = case.row()
            except (ge_run.RunError, models.ModelError) as problem:
                print(f"{name:12} {problem}", flush=True)
                failed = True
                continue
            failed |= not error <= args.bound
            print(f"{name:12} {ours:9.3f} {wide:9.3f} {peer:9.3f} {ours / wide:6.2f} "
                  f"{spread(all_times[0], all_times[1]):11} {ours / peer:6.2f} "
                  f"{spread(all_times[0], all_times[2]):11} {error:.1e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
