#!/usr/bin/env python3
"""What the engine gpu computes on the simulated vendor, beside ref.

Random cases of operators (--cases of each: float32, float16, bfloat16 and the others); constants that
differ in their last digits alone; indices that a device refuses; steps of training and a decoder with
caches, of which a plan's copies are the inputs and outputs alone; where build/models has models, every
node of them, and of their training steps, has an offer.

Example: tests/e2e/engines/gpu_operators.py --build build/release --cases 3
"""
import argparse
import collections
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODELS = ROOT / "tests/e2e/models"
KEPT = ROOT / "build/models"
TRAIN = ["--plugins", "grad", "--entry", "train_step", "--pass"]
CE = "train:loss=softmax-ce;optimizer="
STATES = {
    "LeNet's step": (["correct", "loss"], KEPT / "lenet.onnx", *TRAIN, CE + "adam",
                     "--input", "x=64x1x28x28:rand", "--input", "label=64:zeros"),
    "an encoder's step": (["correct", "loss"], MODELS / "encoder.gt", *TRAIN, CE + "adamw",
                          "--input", "ids=4x6:zeros", "--input", "label=4:zeros"),
    "an encoder's step by Lamb": (["correct", "loss"], MODELS / "encoder.gt", *TRAIN, CE + "lamb",
                                  "--input", "ids=4x6:zeros", "--input", "label=4:zeros"),
    "a decoder": (["logits"], MODELS / "decoder.gt", "--kv-cache=4", "--input", "ids=1x3:zeros"),
}
RUNS = 8
LEAST_OPERATORS = 180

# Two products and two norms whose numbers agree in six digits behind the point.
NEAR = """ge 1
opset "" 28
const w : f32[2,2] = [1, 0, 0, 1]
const c : f32[2] = [1, 2]
const one : f32[2] = [1, 1]
const zero : f32[2] = [0, 0]
const tiny : f32[2] = [0, 0]
fn main(x: f32[1,2]) -> (a, b, m, n) {
  a = Gemm(x, w, c) {beta=1e-7}
  b = Gemm(x, w, c) {beta=4e-7}
  m = BatchNormalization(x, one, zero, zero, tiny) {epsilon=1e-7}
  n = BatchNormalization(x, one, zero, zero, tiny) {epsilon=4e-7}
}
entry infer "main" = main
"""

# Rows that are reduced in parts; moves of 16 bytes and of less.
LONG = """ge 1
opset "" 28
const last : i64[1] = [1]
const start : i64[1] = [8]
const odd : i64[1] = [3]
const end : i64[1] = [65536]
const ids : i64[4] = [2, 0, -1, 1]
fn main(x: DTYPE[3,65536]) -> (mean, most, norm, ones, squares, logs, all, cut, rest, rows) {
  mean = ReduceMean(x, last)
  most = ReduceMax(x, last)
  norm = ReduceL2(x, last)
  ones = ReduceL1(x, last)
  squares = ReduceSumSquare(x, last) {keepdims=0}
  magnitude = Abs(x)
  logs = ReduceLogSum(magnitude, last)
  all = ReduceSum(magnitude)
  cut = Slice(x, start, end, last)
  rest = Slice(x, odd, end, last)
  rows = Gather(x, ids)
}
entry infer "main" = main
"""


class Checks:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-2000:]}")

    def run(self, program, *args, **env):
        whole = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed",
                 "LD_LIBRARY_PATH": str(self.build / "lib/sim/cuda"), **env}
        return subprocess.run([self.build / "bin" / program, *map(str, args)], cwd=ROOT,
                              capture_output=True, text=True, timeout=900, check=False, env=whole)

    def made(self, *args, engines="gpu,ref"):
        """The outputs of a run, by name."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = self.run("ge", "run", *args, "--engines", engines, "--policy", "priority",
                            "--output", out)
            self.check(done.returncode == 0, f"a run on {engines}", done.stderr)
            return {f.stem: np.load(f) for f in pathlib.Path(out).iterdir()}

    def recorded(self, *args, engines):
        """The report of RUNS + 1 runs, and what the last one was given and made."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            done = self.run("ge", "run", *args, "--engines", engines, "--policy", "priority",
                            "--repeat", RUNS + 1, "--json",
                            GE_OBSERVE=f"record={folder};values=border;every={RUNS}")
            if done.returncode != 0:
                print(done.stderr[-1500:])
                return {}, {}
            with zipfile.ZipFile(sorted(pathlib.Path(folder).glob("*.gecap"))[-1]) as z:
                members = {n: np.load(io.BytesIO(z.read(n))) for n in z.namelist()
                           if n.endswith(".npy")}
            return json.loads(done.stdout), members


def operators(c, cases):
    seen = 0
    for seed in range(1, cases // 10 + 2):
        count = min(10, cases - 10 * (seed - 1))
        if count <= 0:
            break
        done = c.run("ge-test", "--random", count, "--engines", "gpu", "--seed", seed)
        found = re.search(r"gpu: (\d+) operators, (\d+) cases, (\d+) with an empty tensor, (\d+)",
                          done.stdout)
        c.check(done.returncode == 0, f"random cases of seed {seed}", done.stdout)
        c.check(found and int(found[1]) >= LEAST_OPERATORS, "kinds of operators", done.stdout[-200:])
        seen += int(found[2]) if found else 0
    print(f"{seen} cases of operators")


def near_numbers(c):
    model = c.folder / "near.gt"
    model.write_text(NEAR)
    np.save(c.folder / "x.npy", np.array([[1e-3, 2e-3]], np.float32))
    made = c.made(model, "--input", f"x={c.folder}/x.npy")
    x, add = np.array([1e-3, 2e-3]), np.array([1, 2])
    for name, wanted in [("a", x + 1e-7 * add), ("b", x + 4e-7 * add),
                         ("m", x / np.sqrt(1e-7)), ("n", x / np.sqrt(4e-7))]:
        c.check(np.allclose(made.get(name, 0), wanted, rtol=2e-6, atol=0), f"near numbers: {name}",
                (made.get(name), wanted))


def long_rows(c):
    for dtype, bound in [("f32", 1e-5), ("f16", 2e-3)]:
        model = c.folder / f"long_{dtype}.gt"
        model.write_text(LONG.replace("DTYPE", dtype))
        words = [model, "--input", "x=3x65536:rand", "--seed", 3]
        found, wanted = c.made(*words), c.made(*words, engines="ref")
        c.check(len(wanted) == 10 and found.keys() == wanted.keys(), "outputs of long rows", found)
        for name, value in wanted.items():
            scale = np.abs(value.astype(np.float64)).max()
            c.check(np.abs(found[name].astype(np.float64) - value).max() <= bound * scale,
                    f"long rows of {dtype}: {name}", (found[name], value))


def refusals(c):
    """An index beyond its axis: the device is given up, and the CPU has the words."""
    ids = np.zeros((4, 6), np.int64)
    ids[2, 3] = 99
    np.save(c.folder / "ids.npy", ids)
    done = c.run("ge", "run", MODELS / "encoder.gt", "--input", f"ids={c.folder}/ids.npy",
                 "--engines", "gpu,ref", "--policy", "priority")
    c.check(done.returncode == 2 and "is 99, axis 0 takes [-16, 16)" in done.stderr,
            "an index beyond its axis", done.stderr)


def training(c):
    for name, (outputs, model, *words) in STATES.items():
        if not model.exists():
            c.skipped += 1
            continue
        report, device = c.recorded(model, *words, engines="gpu,ref")
        _, host = c.recorded(model, *words, engines="ref")
        made, wanted = ({n.split("-", 1)[-1][:-4]: v for n, v in side.items()
                         if n.startswith("value/")} for side in (device, host))
        copied = sum(v.nbytes for n, v in device.items() if n.startswith("input/"))
        copied += sum(made[o].nbytes for o in outputs if o in made)
        c.check(report.get("transfer_bytes") == copied, f"{name}: bytes copied",
                (report.get("transfer_bytes"), copied))
        c.check(set(report.get("engines", {})) == {"gpu"}, f"{name}: engines", report.get("engines"))
        for o in outputs:
            c.check(o in made and np.allclose(made[o], wanted[o], rtol=1e-4, atol=1e-6),
                    f"{name}: {o}", (made.get(o), wanted.get(o)))


def off_the_device(c, words):
    """Nodes that gpu does not take: {operator: number}; None: the model is refused."""
    done = c.run("ge", "explain", *words, "--engines", "gpu,ref", "--policy", "priority", "--json")
    if done.returncode != 0:
        return done.stderr
    nodes = json.loads(done.stdout)["nodes"]
    return dict(collections.Counter(n["op"] for n in nodes
                                    if not n["chosen"]["device"].startswith("gpu/")))


def models(c):
    rows = json.loads((ROOT / "tools/bench/models.json").read_text())
    for row in rows:
        model = KEPT / f"{row['name']}.onnx"
        if row.get("group") or not model.exists():
            c.skipped += not row.get("group")
            continue
        words = [model]
        for name, feed in row["feeds"].items():
            shape = "x".join(map(str, feed["shape"]))
            words += ["--input", f"{name}={shape}:{'rand' if feed['dtype'] == 'float32' else 'zeros'}"]
        found = off_the_device(c, words)
        c.check(found == {}, f"{row['name']}: nodes that are not on the device", found)
    for name, inputs, options in [
            ("lenet", ["x=64x1x28x28:rand", "label=64:zeros"], CE + "sgd"),
            ("resnet50", ["x=2x3x224x224:rand", "label=2:zeros"], CE + "sgd"),
            ("minilm", ["ids=1x128:zeros"], "train:loss=mse;optimizer=adamw;clip=1")]:
        if not (KEPT / f"{name}.onnx").exists():
            c.skipped += 1
            continue
        words = [KEPT / f"{name}.onnx", *TRAIN, options]
        for each in inputs:
            words += ["--input", each]
        found = off_the_device(c, words)
        c.check(found == {}, f"{name}'s step: nodes that are not on the device", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--cases", type=int, default=3, help="of each operator")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(options.build.resolve(), pathlib.Path(folder))
        operators(c, options.cases)
        near_numbers(c)
        long_rows(c)
        refusals(c)
        training(c)
        models(c)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
