#!/usr/bin/env python3
"""`ge run --watch`: a NaN planted in the weights of one node after the other of fused nets stops the
run at that node, by the model's own name, records it, and exits 1, also where an engine's fused Relu
hides it; conditions that nothing meets let the run go on; refusals say what is wanted.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/watch.py --build build/release lenet squeezenet
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402

PLANTED = ("Conv", "Gemm", "MatMul", "Add", "Mul")
LOOP = """ge 1
opset "" 28
const three : i64[] = 3
const yes : bool[] = true
fn step(i: i64[], on: bool[], x: f32[4]) -> (on, y) {
  y: f32[4] = Exp(x) "grows"
}
fn main(x: f32[4]) -> (y) {
  y = Loop(three, yes, x) calls {body=step}
}
entry infer "main" = main
"""
CLEANED = """ge 1
opset "" 28
const none : f32[] = 0
fn main(x: f32[4]) -> (y) {
  bad: bool[4] = IsNaN(x) "bad"
  kept: f32[4] = Where(bad, none, x) "kept"
  y: f32[4] = Relu(kept) "y"
}
entry infer "main" = main
"""


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder = ge, folder
        self.passed = self.failed = 0

    def check(self, good, name, found=""):
        self.passed += bool(good)
        if not good:
            self.failed += 1
            print(f"FAILED  {name}\n    {str(found)[:600]}")

    def run(self, *words):
        return subprocess.run([self.ge, "run", *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              env=dict(os.environ, GE_CACHE_DIR="off"))


def planted(model, limit):
    """Nodes whose own weight can hold a NaN, and the weight: each weight of one reader alone."""
    weights = {t.name: t for t in model.graph.initializer if t.data_type == onnx.TensorProto.FLOAT}
    readers = {}
    for n in model.graph.node:
        for name in n.input:
            readers[name] = readers.get(name, 0) + 1
    made = {o for n in model.graph.node for o in n.output}
    inputs = {i.name for i in model.graph.input}
    found = []
    for n in model.graph.node:
        own = [name for name in n.input if name in weights and readers[name] == 1]
        runs = any(name in made or name in inputs for name in n.input)
        # A scalar may be the epsilon of a norm, and such a model is refused.
        if n.op_type in PLANTED and own and runs and np.prod(weights[own[0]].dims) > 1:
            found.append((n, weights[own[0]]))
    return found[:limit]


def stops_at(c, name, node, *words):
    """Whether a watched run stops at the node; and what it said."""
    done = c.run(*words, "--watch", "nan", "--json")
    said = json.loads(done.stdout).get("watch", {}) if done.stdout else {}
    right = done.returncode == 1 and node.name in [said.get("node"), *said.get("parts", [])]
    c.check(right, f"{name}: a NaN in {node.name} ({node.op_type})",
            f"exit {done.returncode}, {said.get('node')} beside {said.get('beside')}; {done.stderr[-200:]}")
    return right, said


def nets(c, names, limit):
    stopped = hidden = 0
    for name in names:
        model = onnx.load(ROOT / "build" / "models" / f"{name}.onnx")
        for node, weight in planted(model, limit):
            before = weight.SerializeToString()
            data = numpy_helper.to_array(weight).copy()
            data.reshape(-1)[data.size // 2] = np.nan
            weight.CopyFrom(numpy_helper.from_array(data, weight.name))
            onnx.save(model, c.folder / "planted.onnx")
            weight.ParseFromString(before)
            for engines in ([], ["--engines", "onednn,ref"]):  # by prices, and by fused Relus of a library
                right, said = stops_at(c, f"{name} {engines}", node, "planted.onnx", *engines)
                stopped += right
                hidden += said.get("hidden", False)
    print(f"stopped at {stopped} planted nodes, of which {hidden} where the step's result hides it")


def given(c):
    """A NaN in what the user gives is seen at its first reader; one that the model itself takes out is none."""
    model = onnx.load(ROOT / "build" / "models" / "squeezenet.onnx")
    x = np.random.default_rng(3).standard_normal((1, 3, 224, 224)).astype("float32")
    x[0, 1, 100, 100] = np.nan
    np.save(c.folder / "nan.npy", x)
    onnx.save(model, c.folder / "given.onnx")
    first = model.graph.node[0]
    for engines in ([], ["--engines", "onednn,ref"]):
        stops_at(c, f"an input {engines}", first, "given.onnx", "--input", "x=nan.npy", *engines)
    (c.folder / "cleaned.gt").write_text(CLEANED)
    np.save(c.folder / "some.npy", np.array([1, np.nan, 3, 4], "float32"))
    done = c.run("cleaned.gt", "--input", "x=some.npy", "--watch", "nan")
    c.check(done.returncode == 0, "a NaN that the model takes out stops nothing", done.stdout + done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--limit", type=int, default=8, help="planted nodes of each net")
    parser.add_argument("nets", nargs="*", default=["lenet", "mlp", "squeezenet"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(str(ROOT / args.build / "bin" / "ge"), pathlib.Path(folder))
        nets(c, args.nets, args.limit)
        given(c)
        lenet = ROOT / "build/models/lenet.onnx"
        for name in ("watch.gecap", "watch.gecap.running", "quiet.gecap"):
            (c.folder / name).unlink(missing_ok=True)
        done = c.run(lenet, "--watch", "nan,inf,abs>1e30", "--watch-file", "quiet.gecap", "--repeat", "3")
        c.check(done.returncode == 0 and "outputs" in done.stdout, "a run that meets nothing goes on", done.stderr)
        c.check(not list(c.folder.glob("quiet*")), "and leaves no file")
        done = c.run(lenet, "--watch", "abs>1e-3")
        c.check(done.returncode == 1 and "Conv" in done.stdout and "recorded in watch.gecap" in done.stdout,
                "a magnitude stops it", done.stdout)
        replayed = subprocess.run([c.ge, "replay", "watch.gecap"], capture_output=True, text=True, cwd=c.folder)
        c.check(replayed.returncode == 0, "the stopped run is replayed", replayed.stderr)
        (c.folder / "loop.gt").write_text(LOOP)
        np.save(c.folder / "x.npy", np.array([1, 2, 3, 4], "float32"))
        done = c.run("loop.gt", "--input", "x=x.npy", "--watch", "inf")
        c.check(done.returncode == 1 and done.stdout.startswith("grows:"), "and inside of a Loop", done.stdout + done.stderr)
        for words, text in ((["--watch", "nan,big"], "wanted nan, inf or abs>NUMBER"),
                            (["--watch", "abs>x"], "wanted nan, inf or abs>NUMBER"),
                            (["--watch", "nan,abs"], "in quotes, since a shell takes >"),
                            (["--watch", "nan", "--profile"], "ask for it alone"),
                            (["--watch", "nan", "--watch-file", "none/w.gecap"], "none/w.gecap")):
            done = c.run(lenet, *words)
            c.check(done.returncode in (2, 3) and text in done.stderr, f"{words} says '{text}'", done.stderr)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
