#!/usr/bin/env python3
"""Valid models that few exporters write: each runs and equals NumPy, or is refused by a sentence.

Makes `--count` models by a seed, in turns of these kinds: external data behind symbolic links, as the
caches of model hubs have it; initializers that a caller overrides; outputs that are listed twice; nodes
out of order under odd names; names of bodies that shadow outer ones; unknown fields; sizes of 0 and
ranks of 0; functions of other opsets than the model's. Runs each by `ge run` and compares.

  oddities.py --seed 1 --count 60 --keep DIR
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# What a refusal has to say, beside the code: the reason, not "unsupported" alone.
ALLOWED_REFUSALS = ("twice", "is not valid")


class Odd:
    """One model with what it is given and what it gives."""

    def __init__(self, kind, model, feeds, wanted, path=None):
        self.kind, self.model, self.feeds, self.wanted, self.path = kind, model, feeds, wanted, path
        self.external = None  # bytes of the external file


def values(rng, shape):
    return np.array([rng.uniform(-2, 2) for _ in range(int(np.prod(shape)))], "float32").reshape(shape)


def info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model_of(nodes, inputs, outputs, initializers=(), opset=17, functions=(), domains=()):
    graph = helper.make_graph(nodes, "odd", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=9, functions=list(functions))


def shape_of(rng, least=1):
    return [rng.randint(least, 4) for _ in range(rng.randint(1, 3))]


def linked(rng):
    shape = shape_of(rng)
    w, x = values(rng, shape), values(rng, shape)
    tensor = numpy_helper.from_array(w, "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    place = rng.choice(["model.onnx_data", "data/w.bin"])
    for key, value in (("location", place), ("offset", "0"), ("length", str(w.nbytes))):
        tensor.external_data.add(key=key, value=value)
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", shape)],
                     [info("y", shape)], [tensor])
    odd = Odd("links", model, {"x": x}, {"y": x + w}, place)
    odd.external = w.tobytes()
    return odd


def overridden(rng):
    shape = shape_of(rng)
    names = rng.sample(["scale", "bias", "a b", "0"], rng.randint(1, 3))
    x = values(rng, shape)
    nodes, current, result = [], "x", x
    defaults, feeds = [], {"x": x}
    for i, name in enumerate(names):
        default, given = values(rng, shape), values(rng, shape)
        defaults.append(numpy_helper.from_array(default, name))
        if rng.random() < 0.6:
            feeds[name] = given
            default = given
        nodes.append(helper.make_node("Mul" if i % 2 else "Add", [current, name], [f"t{i}"]))
        current = f"t{i}"
        result = result * default if i % 2 else result + default
    nodes.append(helper.make_node("Neg", [current], ["y"]))
    inputs = [info(n, shape) for n in names] + [info("x", shape)]
    rng.shuffle(inputs)
    return Odd("defaults", model_of(nodes, inputs, [info("y", shape)], defaults), feeds, {"y": -result})


def doubled(rng):
    shape = shape_of(rng)
    x = values(rng, shape)
    nodes = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Abs", ["y"], ["z"])]
    outputs = [info(rng.choice(["x", "y", "z"]), shape) for _ in range(rng.randint(2, 5))]
    outputs.append(outputs[0])
    known = {"x": x, "y": -x, "z": np.abs(x)}
    return Odd("doubled outputs", model_of(nodes, [info("x", shape)], outputs), {"x": x},
               {o.name: known[o.name] for o in outputs})


def unsorted(rng):
    shape = shape_of(rng)
    x = values(rng, shape)
    names = rng.sample(["a/b", "ä", "%", "x ", "\t", "n" * 6000, "'", '"', "::", "0", "="], 5)
    nodes, current, result = [], "x", x
    for i, name in enumerate(names):
        op, apply = rng.choice([("Neg", lambda v: -v), ("Abs", np.abs), ("Relu", lambda v: np.maximum(v, 0))])
        nodes.append(helper.make_node(op, [current], [name], name=rng.choice(["", "same", name])))
        current, result = name, apply(result)
    nodes.append(helper.make_node("Identity", [current], ["y"], name="same"))
    rng.shuffle(nodes)
    return Odd("unsorted nodes", model_of(nodes, [info("x", shape)], [info("y", shape)]), {"x": x},
               {"y": result})


def shadowed(rng):
    """A body's own `t` is not the outer one; `c` is captured."""
    shape = shape_of(rng)
    x, c = values(rng, shape), values(rng, shape)
    flag = rng.random() < 0.5

    def body(op, shadows):
        inner = "t" if shadows else "u"
        nodes = [helper.make_node(op, ["t" if not shadows else "x", "c"], [inner if shadows else "r"])]
        if shadows:
            nodes.append(helper.make_node("Neg", [inner], ["r"]))
        return helper.make_graph(nodes, "b", [], [info("r", shape)])
    shadows = rng.random() < 0.7
    nodes = [helper.make_node("Abs", ["x"], ["t"]),
             helper.make_node("If", ["flag"], ["y"], then_branch=body("Add", shadows), else_branch=body("Mul", False)),
             helper.make_node("Add", ["y", "t"], ["z"])]
    model = model_of(nodes, [info("x", shape), helper.make_tensor_value_info("flag", TensorProto.BOOL, [])],
                     [info("z", shape)], [numpy_helper.from_array(c, "c")])
    y = (-(x + c) if shadows else np.abs(x) + c) if flag else np.abs(x) * c
    return Odd("captures that shadow", model, {"x": x, "flag": np.array(flag)}, {"z": y + np.abs(x)})


def unknown(rng):
    shape = shape_of(rng)
    w, x = values(rng, shape), values(rng, shape)
    model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", shape)],
                     [info("y", shape)], [numpy_helper.from_array(w, "w")])
    field = rng.randint(9000, 9999)
    one = onnx.ModelProto()
    extra = bytes([*varint(field << 3 | 2), 3]) + b"odd" + bytes([*varint((field + 1) << 3), 7])
    for message in rng.sample([model, model.graph, model.graph.node[0], model.graph.initializer[0],
                               model.graph.input[0], model.opset_import[0]], 3):
        message.MergeFromString(extra)
    one.ParseFromString(model.SerializeToString())
    return Odd("unknown fields", one, {"x": x}, {"y": x + w})


def varint(value):
    while value >= 128:
        yield value & 127 | 128
        value >>= 7
    yield value


def empty(rng):
    shape = rng.choice([[], [0], [0, 3], [2, 0], [1, 0, 2]])
    x, w = values(rng, shape), values(rng, shape)
    kind = rng.randrange(5)
    if kind == 0:
        nodes, y = [helper.make_node("Add", ["x", "w"], ["y"])], x + w
    elif kind == 1:
        nodes, y = [helper.make_node("Concat", ["r", "r"], ["y"], axis=0),
                    helper.make_node("Reshape", ["x", "flat"], ["r"])], np.concatenate([x.ravel()] * 2)
    elif kind == 2:
        nodes, y = [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)], np.sum(x)
    elif kind == 3:
        nodes, y = [helper.make_node("Transpose", ["x"], ["y"])], np.transpose(x)
    else:
        nodes, y = [helper.make_node("MatMul", ["r", "k"], ["y"]),
                    helper.make_node("Reshape", ["x", "rows"], ["r"], allowzero=1)], np.zeros((x.size, 4), "float32") + x.ravel()[:, None]
    flat = [numpy_helper.from_array(np.array([-1], "int64"), "flat"),
            numpy_helper.from_array(np.array([x.size, 1], "int64"), "rows"),
            numpy_helper.from_array(np.ones((1, 4), "float32"), "k"), numpy_helper.from_array(w, "w")]
    return Odd("empty and 0-d", model_of(nodes, [info("x", shape)], [info("y", None)], flat), {"x": x}, {"y": y})


def mixed(rng):
    """Functions of opsets before and after changes of Clip, Squeeze, Softmax, ReduceSum."""
    shape = [rng.randint(1, 4) for _ in range(3)]
    x = values(rng, shape)
    functions, nodes, current, result = [], [], "x", x
    for i in range(rng.randint(1, 4)):
        opset, op = rng.randint(7, 22), rng.choice(["Clip", "Unsqueeze", "Softmax", "ReduceSum"])
        body, result = FUNCTIONS[op](opset, result)
        functions.append(helper.make_function("own", f"F{i}", ["x"], ["y"], body,
                                              [helper.make_opsetid("", opset)]))
        nodes.append(helper.make_node(f"F{i}", [current], [f"t{i}"], domain="own"))
        current = f"t{i}"
    nodes.append(helper.make_node("Identity", [current], ["y"]))
    model = model_of(nodes, [info("x", shape)], [info("y", None)], opset=rng.randint(7, 22),
                     functions=functions, domains=["own"])
    return Odd("mixed opsets", model, {"x": x}, {"y": result})


def constant(name, value):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value))


def clip(opset, x):
    y = np.clip(x, np.float32(-0.5), np.float32(0.75))
    if opset < 11:
        return [helper.make_node("Clip", ["x"], ["y"], min=-0.5, max=0.75)], y
    return [constant("lo", np.float32(-0.5)), constant("hi", np.float32(0.75)),
            helper.make_node("Clip", ["x", "lo", "hi"], ["y"])], y


def unsqueeze(opset, x):
    y = np.expand_dims(x, 0)
    if opset < 13:
        return [helper.make_node("Unsqueeze", ["x"], ["y"], axes=[0])], y
    return [constant("axes", np.array([0])), helper.make_node("Unsqueeze", ["x", "axes"], ["y"])], y


def softmax(opset, x):
    flat = x.reshape(x.shape[0], -1) if opset < 13 else x
    e = np.exp(flat - flat.max(-1, keepdims=True))
    return [helper.make_node("Softmax", ["x"], ["y"])], (e / e.sum(-1, keepdims=True)).reshape(x.shape)


def reduce_sum(opset, x):
    y = x.sum(1, keepdims=True)
    if opset < 13:
        return [helper.make_node("ReduceSum", ["x"], ["y"], axes=[1])], y
    return [constant("axes", np.array([1])), helper.make_node("ReduceSum", ["x", "axes"], ["y"])], y


FUNCTIONS = {"Clip": clip, "Unsqueeze": unsqueeze, "Softmax": softmax, "ReduceSum": reduce_sum}
KINDS = [linked, overridden, doubled, unsorted, shadowed, unknown, empty, mixed]


def write(odd, folder):
    """The path to run. Links: names lie in snapshots/1, files in blobs."""
    if odd.kind != "links":
        path = folder / "model.onnx"
        path.write_bytes(odd.model.SerializeToString())
        return path
    blobs, names = folder / "blobs", folder / "snapshots" / "1"
    blobs.mkdir()
    (names / odd.path).parent.mkdir(parents=True)
    for name, content, blob in (("model.onnx", odd.model.SerializeToString(), "c0ffee"),
                                (odd.path, odd.external, "decade")):
        (blobs / blob).write_bytes(content)
        (names / name).symlink_to(os.path.relpath(blobs / blob, (names / name).parent))
    return names / "model.onnx"


def verdict(odd, folder, ge):
    """"" where all is well, else what is not."""
    path = write(odd, folder)
    command = [ge, "run", path, "--output", folder / "out"]
    for i, (name, value) in enumerate(odd.feeds.items()):
        np.save(folder / f"in{i}.npy", value)
        command += ["--input", f"{name}={folder}/in{i}.npy"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        said = run.stderr.strip()
        fair = run.returncode == 2 and any(words in said for words in ALLOWED_REFUSALS)
        return "" if fair else f"exit {run.returncode}: {said[:300]}"
    for name, wanted in odd.wanted.items():
        file = folder / "out" / ("".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name) + ".npy")
        got = np.load(file)
        if got.shape != np.shape(wanted) or not np.allclose(got, wanted, rtol=1e-5, atol=1e-6):
            return f"output {name!r} is {got.tolist()}, wanted {np.asarray(wanted).tolist()}"[:300]
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ge", default="build/release/bin/ge")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the models that fail")
    args = parser.parse_args()
    print(f"seed {args.seed}")
    rng, passed, failed = random.Random(args.seed), 0, 0
    for i in range(args.count):
        odd = KINDS[i % len(KINDS)](rng)
        with tempfile.TemporaryDirectory() as scratch:
            wrong = verdict(odd, pathlib.Path(scratch), args.ge)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAILED  {i} {odd.kind}: {wrong}")
        if wrong and args.keep:
            args.keep.mkdir(parents=True, exist_ok=True)
            onnx.save(odd.model, args.keep / f"{args.seed}_{i}.onnx")
            (args.keep / f"{args.seed}_{i}.json").write_text(
                json.dumps({n: v.tolist() for n, v in odd.feeds.items()}))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
