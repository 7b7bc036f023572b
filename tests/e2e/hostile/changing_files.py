#!/usr/bin/env python3
"""Models for changing_files.cc, and trainings whose model or data change meanwhile.

    changing_files.py models FOLDER    one folder for each, with `model`, `file` and `other` inside
    changing_files.py train FOLDER GE TRIALS SEED
"""
import os
import pathlib
import random
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 512  # weights of 1 MiB each, so that files are mapped


def weights(value):
    """Output i is value * (i + 1) at inputs of ones, whatever it is computed by."""
    return {"sum": np.full([SIDE, SIDE], value, np.float32),
            "product": np.full([SIDE, SIDE], value * 2 / SIDE, np.float32),
            "table": np.full([SIDE, SIDE], value * 3, np.float32)}


def graph(made, branches=False):
    f32, i64 = TensorProto.FLOAT, TensorProto.INT64
    nodes = [helper.make_node("Mul", ["x", "sum"], ["y0"])]
    if branches:  # what is computed depends on the data
        def branch(op):
            return helper.make_graph([helper.make_node(op, ["x", "sum"], [op])], op, [],
                                     [helper.make_tensor_value_info(op, f32, [SIDE, SIDE])])
        zero = numpy_helper.from_array(np.zeros([], np.float32), "zero")
        nodes = [helper.make_node("ReduceSum", ["x"], ["all"], keepdims=0),
                 helper.make_node("Constant", [], ["zero"], value=zero),
                 helper.make_node("Greater", ["all", "zero"], ["some"]),
                 helper.make_node("If", ["some"], ["y0"], then_branch=branch("Mul"),
                                  else_branch=branch("Sub"))]
    nodes += [helper.make_node("MatMul", ["x", "product"], ["y1"]),
             helper.make_node("Gather", ["table", "row"], ["y2"])]
    return helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", f32, [SIDE, SIDE]),
                     helper.make_tensor_value_info("row", i64, [3])],
        [helper.make_tensor_value_info(f"y{i}", f32, d)
         for i, d in enumerate([[SIDE, SIDE], [SIDE, SIDE], [3, SIDE]])], made)


def model(made, branches=False):
    return helper.make_model(graph(made, branches), opset_imports=[helper.make_opsetid("", 17)],
                             ir_version=9)


def inline(value, branches=False):
    return model([numpy_helper.from_array(a, n) for n, a in weights(value).items()], branches)


def outside(name):
    made, at = [], 0
    for n, a in weights(1).items():
        t = TensorProto(name=n, data_type=TensorProto.FLOAT, dims=a.shape, data_location=1)
        for k, v in (("location", name), ("offset", at), ("length", a.nbytes)):
            t.external_data.add(key=k, value=str(v))
        made.append(t)
        at += a.nbytes
    return model(made)


TEXT = """ge 1
opset "" 28
opset "ge" 1
const first : f32[512,512] = external "w.bin" @0 +1048576
const table : f32[512,512] = external "w.bin" @2097152 +1048576
state w : f32[512,512] buffer init first
fn main(x: f32[512,512], row: i64[3]) -> (y0, y1, y2) effects [state w] {
  now: f32[512,512] = ge.Read() effects [state w]
  y0 = Mul(x, now)
  y1 = Add(y0, now)
  y2 = Gather(table, row)
}
entry infer "main" = main
"""


def write_models(folder):
    for name in ("inline", "branches", "outside", "own", "text"):
        (folder / name).mkdir()
    def put(where, values):
        with open(where, "wb") as f:
            for a in values.values():
                f.write(a.tobytes())
    for value, name in ((1, "file"), (2, "other")):
        onnx.save(inline(value), folder / "inline" / f"{name}.onnx")
        onnx.save(inline(value, True), folder / "branches" / f"{name}.onnx")
        put(folder / "outside" / f"{name}.bin", weights(value))
        put(folder / "text" / f"{name}.bin", weights(value))
    onnx.save(outside("file.bin"), folder / "outside" / "model.onnx")
    (folder / "text" / "model.gt").write_text(TEXT.replace("w.bin", "file.bin"))


def train_model():
    r = np.random.default_rng(1)
    made = {"w0": r.standard_normal((SIDE, SIDE)) / SIDE ** 0.5, "b0": np.zeros(SIDE),
            "w1": r.standard_normal((4, SIDE)) / SIDE ** 0.5, "b1": np.zeros(4)}
    nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["h"], transB=1),
             helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("Gemm", ["r", "w1", "b1"], ["y"], transB=1)]
    g = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", SIDE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [numpy_helper.from_array(a.astype(np.float32), n) for n, a in made.items()])
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def change(path, way, r):
    content = path.read_bytes()
    if way == "cut":
        os.truncate(path, r.randrange(len(content)))
    elif way == "written":
        with open(path, "r+b") as f:
            f.write(bytes(len(content) // 2))
    else:
        (path.parent / "new").write_bytes(content)
        os.rename(path.parent / "new", path)


def train(folder, ge, trials, seed):
    r, passed, failed = random.Random(seed), 0, 0
    content = train_model().SerializeToString()
    n = np.random.default_rng(2)
    x, y = n.standard_normal((256, SIDE)).astype(np.float32), n.integers(0, 4, 256)
    np.savez(folder / "kept.npz", x_train=x, y_train=y, x_test=x[:64], y_test=y[:64])
    span = 0
    for trial in range(trials + 1):
        (folder / "net.onnx").write_bytes(content)
        (folder / "data.npz").write_bytes((folder / "kept.npz").read_bytes())
        way = r.choice(["cut", "written", "replaced"]) if trial else "nothing"
        begin = time.monotonic()
        with subprocess.Popen(
                [ge, "train", str(folder / "net.onnx"), "--data", str(folder / "data.npz"),
                 "--epochs", "8", "--export", str(folder / "out.onnx"), "--threads", "1"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as p:
            path = folder / r.choice(["net.onnx", "data.npz"])
            moment = r.random() * span
            if trial:
                time.sleep(moment)
                change(path, way, r)
            text = p.communicate()[0]
        if not trial:
            span = time.monotonic() - begin
        # What is refused is refused by the name of the file.
        good = p.returncode == 0 or (trial and p.returncode in (2, 3) and path.name in text)
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED: {path.name} {way} after {moment:.3f} s: exit {p.returncode}\n{text}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


def main(command, folder, *rest):
    folder = pathlib.Path(folder)
    if command == "models":
        write_models(folder)
        return 0
    return train(folder, rest[0], int(rest[1]), int(rest[2]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
