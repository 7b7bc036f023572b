#!/usr/bin/env python3
"""What the engine ascend computes on the simulated vendor, beside ref.

Random cases of operators (--cases of each: float32, float16, bfloat16 and the others), also on a chip
without bfloat16 and on one that nobody knows; nets of images and matrices of 1, 15, 16, 17 and 33 channels,
in both formats; look-ups by scalar indices; and how often the first phases of operators are asked.

Example: tests/e2e/ascend/ascend_operators.py --build build/release --cases 3
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
LEAST_OPERATORS = 150
# Parameters of a bfloat16 model's text; the chip's name and whether the engine takes it.
HALF = """ge 1
opset "" 28
fn main(x: DTYPE[2,3,4]) -> (y) {
  y = Relu(x)
}
entry infer "main" = main
"""
CHIPS = [("910b", "bf16", True), ("310p", "bf16", False), ("310p", "f16", True),
         ("unknown", "bf16", False), ("unknown", "f16", True)]


# Rows that an index alone names; the first index is known when the model is compiled.
SCALAR = """ge 1
opset "" 28
const first : i64[] = INDEX
fn main(x: DTYPE[4,3], i: i64[], j: i32[]) -> (known, given, column) {
  known = Gather(x, first)
  given = Gather(x, i)
  column = Gather(x, j) {axis=1}
}
entry infer "main" = main
"""
LAYERS = """ge 1
opset "" 28
const w : f32[4,4] = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8]
fn main(v0: f32[3,4]) -> (LAST) {
NODES}
entry infer "main" = main
"""
# The bound of a net's results, relative to the greatest: each value between is rounded.
DTYPES = {"f32": (TensorProto.FLOAT, 1e-5), "f16": (TensorProto.FLOAT16, 8e-3),
          "bf16": (TensorProto.BFLOAT16, 6e-2)}
CHANNELS = (1, 15, 16, 17, 33)


class Checks:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-2000:]}")

    def run(self, program, *args, sim=""):
        env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", "GE_SIM_ASCEND": sim,
               "LD_LIBRARY_PATH": str(self.build / "lib/sim/ascend")}
        if not sim:
            del env["GE_SIM_ASCEND"]
        return subprocess.run([self.build / "bin" / program, *map(str, args)], cwd=ROOT, env=env,
                              capture_output=True, text=True, timeout=1500, check=False)

    def ran(self, *args, engines, sim=""):
        """The report of a run, and its outputs by name."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = self.run("ge", "run", *args, "--engines", engines, "--policy", "priority",
                            "--seed", 3, "--json", "--output", out, sim=sim)
            self.check(done.returncode == 0, f"a run on {engines}", done.stderr)
            report = json.loads(done.stdout) if done.returncode == 0 else {}
            return report, {f.stem: np.load(f) for f in pathlib.Path(out).iterdir()}


def operators(c, cases):
    for chip, count in [("910b", cases), ("310p", 1), ("unknown", 1)]:
        done = c.run("ge-test", "--random", count, "--engines", "ascend", "--seed", 7,
                     sim=f"chip={chip}")
        found = re.search(r"ascend: (\d+) operators, (\d+) cases", done.stdout)
        c.check(done.returncode == 0, f"random cases on the chip {chip}", done.stdout)
        c.check(found and int(found[1]) >= LEAST_OPERATORS, f"operators on {chip}",
                done.stdout[-200:])
        print(f"{chip}: {found[2] if found else 0} cases of operators, seed 7")


def halves(c):
    for chip, dtype, taken in CHIPS:
        model = c.folder / f"{chip}_{dtype}.gt"
        model.write_text(HALF.replace("DTYPE", dtype))
        report, _ = c.ran(model, "--input", "x=2x3x4:rand", engines="ascend,ref",
                          sim=f"chip={chip}")
        wanted = {"ascend": 1} if taken else {"ref": 1}
        c.check(report.get("engines") == wanted, f"{dtype} on {chip}", report.get("engines"))


def scalar_indices(c):
    """An index may have no dims, and counts from the back where it is below zero."""
    for dtype in DTYPES:
        for index in (-1, 0, 3, -4):
            model = c.folder / "scalar.gt"
            model.write_text(SCALAR.replace("DTYPE", dtype).replace("INDEX", str(index)))
            np.save(c.folder / "i.npy", np.array(index, np.int64))
            np.save(c.folder / "j.npy", np.array(index // 2, np.int32))
            words = [model, "--input", "x=4x3:rand", "--input", f"i={c.folder}/i.npy", "--input", f"j={c.folder}/j.npy"]
            report, found = c.ran(*words, engines="ascend,ref")
            _, wanted = c.ran(*words, engines="ref")
            c.check(set(report.get("engines", {})) == {"ascend"}, f"look-ups of {dtype}", report.get("engines"))
            same = len(wanted) == 3 and all(found[k].tobytes() == v.tobytes() for k, v in wanted.items())
            c.check(same, f"scalar index {index} in {dtype}", (found, wanted))


class Net:
    """A model of ONNX with weights of a fixed seed, which gives float32."""

    def __init__(self, dtype, channels):
        self.type, self.dtype = DTYPES[dtype][0], dtype
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(channels)

    def weight(self, *dims):
        name = f"w{len(self.weights)}"
        values = self.random.uniform(-1, 1, dims)
        self.weights.append(helper.make_tensor(name, self.type, dims, values.ravel().tolist()))
        return name

    def add(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def write(self, path, x, last):
        y = self.add("Cast", last, to=TensorProto.FLOAT)
        graph = helper.make_graph(self.nodes, "net", [helper.make_tensor_value_info("x", self.type, x)],
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)


def images(dtype, channels, path):
    n, k = Net(dtype, channels), channels
    a = n.add("Relu", n.add("Conv", "x", n.weight(k, k, 3, 3), n.weight(k), pads=[1] * 4))
    b = n.add("Conv", a, n.weight(k, 1, 3, 3), pads=[1] * 4, group=k)
    c = n.add("Add", n.add("Mul", b, n.weight(1, k, 1, 1)), a)
    d = n.add("Sub", n.add("MaxPool", c, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), n.weight(k, 1, 1))
    e = n.add("Sigmoid", n.add("Conv", d, n.weight(16, k, 1, 1)))
    f = n.add("Add", n.add("AveragePool", e, kernel_shape=[2, 2]), n.weight(1, 1, 4, 1))
    n.write(path, ["N", k, 9, 9], n.add("GlobalAveragePool", f))


def matrices(dtype, channels, path):
    n, k = Net(dtype, channels), channels
    a = n.add("Tanh", n.add("Gemm", "x", n.weight(17, k), n.weight(17), transB=1))
    b = n.add("MatMul", a, n.weight(17, k))
    c = n.add("Mul", n.add("Add", b, "x"), n.weight(1))
    d = n.add("LayerNormalization", c, n.weight(k), n.weight(k)) if k > 1 else c
    n.write(path, ["N", k], n.add("Softmax", n.add("MatMul", d, n.weight(k, 33))))


def channels(c):
    """Sizes around the blocks of private formats, and nothing at all."""
    path, cases = c.folder / "net.onnx", 0
    for dtype, (_, bound) in DTYPES.items():
        for k in CHANNELS:
            for make, dims in ((images, f"{k}x9x9"), (matrices, f"{k}")):
                make(dtype, k, path)
                for batch in (2, 0) if k == 17 else (1,):
                    words = [path, "--input", f"x={batch}x{dims}:rand"]
                    (_, wanted), name = c.ran(*words, engines="ref"), f"{make.__name__}, {dtype}, {batch}x{dims}"
                    wanted = next(iter(wanted.values()), np.zeros(0))
                    for formats in ("plain", "private"):
                        report, found = c.ran(*words, engines=f"ascend:formats={formats},ref")
                        found, cases = next(iter(found.values()), np.zeros(1)), cases + 1
                        c.check(set(report.get("engines", {})) <= {"ascend"} and report, f"{name}, {formats}: engines",
                                report.get("engines"))
                        far = np.abs(found - wanted).max(initial=0) if found.shape == wanted.shape else np.inf
                        c.check(far <= bound * np.abs(wanted).max(initial=1e-9), f"{name}, {formats}", far)
    print(f"channels: {cases} nets of {len(CHANNELS)} sizes, in both formats")


def phases(c, count, engines, runs=1):
    """Calls of first and of second phases, in runs of so many equal layers."""
    nodes = "".join(f"  p{k} = MatMul(v{k}, w)\n  v{k + 1} = Relu(p{k})\n" for k in range(count))
    model, calls = c.folder / "layers.gt", c.folder / "phases"
    model.write_text(LAYERS.replace("NODES", nodes).replace("LAST", f"v{count}"))
    calls.unlink(missing_ok=True)
    c.ran(model, "--input", "v0=3x4:rand", "--repeat", runs, engines=engines, sim=f"calls={calls}")
    c.check("aclInit 1" in calls.read_text(), f"{engines}: the library is used")
    found = re.findall(r"^aclnn(\w+?)(GetWorkspaceSize)? (\d+)$", calls.read_text(), re.M)
    return [sum(int(n) for _, phase, n in found if bool(phase) == first) for first in (True, False)]


def first_phases(c):
    """On a real library a first phase is work: none at a query, one for each sort of call at a compile, one at a
    launch, since an executor is good for one."""
    c.check(phases(c, 3, "ref,ascend") == [0, 0], "a query asks for no first phase")
    one, launched = phases(c, 1, "ascend,ref")
    sorts = one - launched
    c.check(0 < sorts <= launched, "one layer", (one, launched))
    for layers in (3, 12):
        for runs in (1, 5):
            found = phases(c, layers, "ascend,ref", runs)
            wanted = layers * launched * runs
            c.check(found == [wanted + sorts, wanted], f"{layers} layers, {runs} runs", (found, wanted, sorts))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--cases", type=int, default=3, help="of each operator")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(options.build.resolve(), pathlib.Path(folder))
        operators(c, options.cases)
        halves(c)
        scalar_indices(c)
        channels(c)
        first_phases(c)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
