#!/usr/bin/env python3
"""The pass `train` with `remat` on a residual net of convolutions and batch normalisation in float32,
after two steps every state has the same bits as without it where products and the operators that take
images are pinned, whatever layouts plans choose, and the plan takes less memory."""
import argparse
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
from ge_session import GeSession  # noqa: E402

BLOCKS, WIDTH, SAMPLES, SIZE = 8, 32, 4, 28
POLICIES = ("4", "all", "dots", "bytes:3500K")
# What takes an image and what multiplies, on one engine each of all that there are; and everything
# on two.
CONVOLUTIONS = "Conv=onednn;ConvGradInput=onednn;ConvGradWeight=onednn"
NORMS = "ChannelMoments=native;BatchNormalizationGrad=native;ReluGrad=native"
PRODUCTS = "Gemm=native"
WHERE = {"pinned": {"pins": f"{CONVOLUTIONS};{NORMS};{PRODUCTS}"},
         "onednn and ref": {"engines": "onednn,ref"}, "native and ref": {"engines": "native,ref"}}


class Net:
    """Convolution, normalisation, Relu; a pool; residual blocks; a layer of ten."""

    def __init__(self):
        self.random, self.nodes, self.weights = np.random.default_rng(1), [], {}

    def weight(self, name, *dims, scale=1.0, offset=0.0):
        value = offset + scale * self.random.standard_normal(dims)
        self.weights[name] = value.astype(np.float32)
        return name

    def node(self, op, inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def conv(self, x, channels, name):
        w = self.weight(f"{name}.w", WIDTH, channels, 3, 3, scale=(9 * channels) ** -.5)
        y = self.node("Conv", [x, w], pads=[1, 1, 1, 1])
        norm = [self.weight(f"{name}.{part}", WIDTH, scale=.1, offset=offset)
                for part, offset in (("scale", 1), ("b", 0), ("mean", 0))]
        self.weights[f"{name}.var"] = np.full(WIDTH, 1 + .001 * len(self.weights), np.float32)
        return self.node("BatchNormalization", [y, *norm, f"{name}.var"])

    def save(self, path):
        x = self.node("Relu", [self.conv("x", 3, "stem")])
        x = self.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        for i in range(BLOCKS):
            y = self.node("Relu", [self.conv(x, WIDTH, f"{i}.first")])
            x = self.node("Relu", [self.node("Add", [self.conv(y, WIDTH, f"{i}.second"), x])])
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x])])
        last = [self.weight("last.w", WIDTH, 10, scale=.2), self.weight("last.b", 10, scale=.01)]
        out = self.node("Gemm", [x, *last])
        graph = helper.make_graph(
            self.nodes, "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [SAMPLES, 3, SIZE, SIZE])],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, [SAMPLES, 10])],
            [numpy_helper.from_array(v, k) for k, v in self.weights.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        return path


def trained(path, names, remat, where):
    session = GeSession(path, plugins="grad", entry="train_step", **where,
                        passes=f"train:loss=softmax-ce;lr=0.1;momentum=0.9;remat={remat}")
    r = np.random.default_rng(2)
    for _ in range(2):
        session.run({"x": r.standard_normal((SAMPLES, 3, SIZE, SIZE)).astype(np.float32),
                     "label": r.integers(0, 10, SAMPLES)})
    states = {n: session.state(n) for n in names}
    arena = session.report()["arena_bytes"]
    session.close()
    return states, arena


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    passed = failed = 0

    def check(name, good, detail):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED  {name}: {detail}")
    with tempfile.TemporaryDirectory() as scratch:
        net = Net()
        path = net.save(pathlib.Path(scratch) / "net.onnx")
        for title, where in WHERE.items():
            kept, most = trained(path, net.weights, "none", where)
            for name, first in net.weights.items():
                check(f"{title}: {name} is trained", not np.array_equal(kept[name], first), first)
            for remat in POLICIES:
                again, arena = trained(path, net.weights, remat, where)
                apart = [n for n in kept if not np.array_equal(kept[n], again[n])]
                check(f"{title}, remat={remat}: the same bits", not apart, apart)
                check(f"{title}, remat={remat}: less memory", arena < .9 * most, (arena, most))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
