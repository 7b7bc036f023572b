#!/usr/bin/env python3
"""Times --precision bf16 against our own float32 and against OpenVINO's bf16.

The sides run in separate processes that take turns on the same inputs; a row shows medians in ms,
ours over OpenVINO's and over our float32 with the least and greatest ratio of a round, and how far
the bf16 outputs of both are from our float32, relative to the largest magnitude of an output.
NAME@N is a model of sequences with N tokens. --layers takes each product by itself instead: its
bf16 result against float32 from the same inputs, relative to the largest magnitude of the result.

Examples:
  tools/bench/precision/precision.py resnet50 minilm
  tools/bench/precision/precision.py --threads 2 --rounds 3 gpt2_small@1 gpt2_small@128
  tools/bench/precision/precision.py --layers resnet50 bert_base minilm ppocr_rec
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

project_venv.enter("numpy", "onnx", "onnxruntime", "openvino")

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import compare  # noqa: E402
import feeds  # noqa: E402
import ge_run  # noqa: E402
import halves  # noqa: E402
import models  # noqa: E402
import precision_layers  # noqa: E402
import reference  # noqa: E402

PEER = pathlib.Path(__file__).resolve().parents[1] / "peer_bench.py"
NAMES = ["resnet50", "bert_base", "minilm", "ppocr_rec", "gpt2_small@1", "gpt2_small@128"]


def feeds_of(name, tokens):
    """The model's inputs, those of integers with so many tokens where the name says a number."""
    rows = models.rows_named([name])[0]["feeds"]
    if tokens:
        rows = {key: dict(feed, shape=[*feed["shape"][:-1], int(tokens)])
                for key, feed in rows.items()}
    return feeds.of_feeds(rows)


class Case:
    """One model with its inputs in a folder."""

    def __init__(self, text, args, folder):
        self.name, _, tokens = text.partition("@")
        self.args, self.folder = args, folder
        self.model = models.ensure([self.name], args.models, halves.to_stderr)[self.name]
        self.inputs = {}
        for i, (key, array) in enumerate(feeds_of(self.name, tokens).items()):
            self.inputs[key] = f"{self.name}.{tokens}.{i}.npy"
            np.save(folder / self.inputs[key], array)

    def ours(self, precision, output=None, model=None):
        options = ["--threads", str(self.args.threads), "--repeat", str(self.args.repeat),
                   "--warmup", "3", "--precision", precision]
        return ge_run.run(self.args.ge, model or self.model, self.folder, {"inputs": self.inputs},
                          self.args.engines, options, output)

    def peer(self, precision, save=None):
        command = [sys.executable, str(PEER), "openvino", str(self.model),
                   "--threads", str(self.args.threads), "--repeat", str(self.args.repeat),
                   "--precision", precision]
        for key, file in self.inputs.items():
            command += ["--input", f"{key}={self.folder / file}"]
        if save:
            command += ["--save", str(save)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=600, check=False)
        if done.returncode:
            raise ge_run.RunError(f"OpenVINO: {done.stderr.strip().splitlines()[-1]}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def errors(self):
        """Of our bf16 and of OpenVINO's against our float32, over the worst output."""
        exact, ours, theirs = (self.folder / f"{self.name}.{part}" for part in ("f32", "bf16", "npz"))
        self.ours("f32", exact)
        self.ours("bf16", ours)
        self.peer("bf16", theirs)
        saved, worst = np.load(theirs), [0.0, 0.0]
        names = [v.name for v in onnx.load(self.model, load_external_data=False).graph.output]
        for key, name in zip(saved.files, names, strict=True):
            wanted = np.load(exact / reference.file_name(name))
            got = np.load(ours / reference.file_name(name)), saved[key]
            worst = [max(w, compare.error_of(g, wanted)) for w, g in zip(worst, got)]
        return worst

    def times(self):
        """Medians of each round: ours in bf16 and float32, OpenVINO's in bf16."""
        sides = ([], [], [])
        for _ in range(self.args.rounds):
            sides[0].append(self.ours("bf16")["median_ms"])
            sides[1].append(self.ours("f32")["median_ms"])
            sides[2].append(self.peer("bf16")["median_ms"])
        return sides


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--models", type=pathlib.Path, default=models.DEFAULT_DIR)
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    parser.add_argument("--engines", help="as ge run takes them; default: all that are found")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--layers", action="store_true", help="errors of each product by itself")
    args = parser.parse_args()
    if args.layers:
        args.repeat = 1
        with tempfile.TemporaryDirectory() as folder:
            for name in args.names:
                print(precision_layers.summary(Case(name, args, pathlib.Path(folder))), flush=True)
        return 0
    failed = False
    print(f"{'model':15} {'bf16':>8} {'f32':>8} {'OV bf16':>8} {'/f32':>5} {'':9} {'/OV':>5} {'':9} "
          "off by  OV's")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names:
            try:
                case = Case(name, args, pathlib.Path(folder))
                errors, sides = case.errors(), case.times()
            except (ge_run.RunError, models.ModelError) as problem:
                print(f"{name:15} {problem}", flush=True)
                failed = True
                continue
            ours, wide, peer = (statistics.median(side) for side in sides)
            print(f"{name:15} {ours:8.3f} {wide:8.3f} {peer:8.3f} {ours / wide:5.2f} "
                  f"{halves.spread(sides[0], sides[1]):9} {ours / peer:5.2f} "
                  f"{halves.spread(sides[0], sides[2]):9} {errors[0]:.1e} {errors[1]:.1e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
