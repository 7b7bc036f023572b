#!/usr/bin/env python3
"""Writes ten reference networks as ONNX files with seeded weights.

Every runtime is timed and checked on the same bytes. The graphs follow the papers' layer tables;
weights are He-initialised noise, which is all that a timing or an equality check needs. The bytes
depend on numpy alone; onnx 1.22 and 1.23 write the same. models.json keeps their SHA-256.

Examples:
  tools/bench/zoo.py build/models                 # all ten, 1.2 GB
  tools/bench/zoo.py build/models lenet resnet50
"""
import argparse
import os
import pathlib

import project_venv

project_venv.enter("numpy", "onnx")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

OPSET = 17


class Net:
    """A graph under construction; the order of calls fixes names and random weights."""

    def __init__(self, name, seed=0):
        self.name, self.nodes, self.constants = name, [], []
        self.rng, self.count = np.random.default_rng(seed), 0
        self.inputs, self.outputs = [], []

    def input(self, name, shape, dtype=T.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name, shape=None, dtype=T.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def const(self, array):
        self.count += 1
        name = f"w{self.count}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def zeros(self, *shape):
        return self.const(np.zeros(shape, np.float32))

    def scalar(self, value):
        return self.const(np.float32(value))

    def int64s(self, *values):
        return self.const(np.array(values, np.int64))

    def weight(self, *shape, fan_in=None):
        fan_in = fan_in or int(np.prod(shape[1:])) or 1
        noise = self.rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)
        return self.const(noise.astype(np.float32))

    def op(self, kind, *ins, n_out=1, **attrs):
        self.count += 1
        outs = [f"t{self.count}_{i}" for i in range(n_out)]
        node = helper.make_node(kind, list(ins), outs, name=f"{kind}_{self.count}", **attrs)
        self.nodes.append(node)
        return outs[0] if n_out == 1 else outs

    def batch_norm(self, x, channels):
        rng = self.rng
        scale = self.const(rng.uniform(0.9, 1.1, channels).astype(np.float32))
        shift = self.const((rng.standard_normal(channels) * 0.05).astype(np.float32))
        mean = self.const((rng.standard_normal(channels) * 0.05).astype(np.float32))
        var = self.const(rng.uniform(0.9, 1.1, channels).astype(np.float32))
        return self.op("BatchNormalization", x, scale, shift, mean, var)

    def conv(self, x, cin, cout, k, s=1, p=None, group=1, bn=True, act=None, bias=False):
        p = k // 2 if p is None else p
        ins = [x, self.weight(cout, cin // group, k, k)]
        if bias:
            ins.append(self.zeros(cout))
        x = self.op("Conv", *ins, kernel_shape=[k, k], strides=[s, s], pads=[p] * 4, group=group)
        if bn:
            x = self.batch_norm(x, cout)
        if act == "relu":
            x = self.op("Relu", x)
        elif act == "relu6":
            x = self.op("Clip", x, self.scalar(0), self.scalar(6))
        return x

    def gemm(self, x, cin, cout):
        return self.op("Gemm", x, self.weight(cout, cin), self.zeros(cout), transB=1)

    def linear(self, x, cin, cout):
        y = self.op("MatMul", x, self.weight(cin, cout, fan_in=cin * 4))
        return self.op("Add", y, self.const((self.rng.standard_normal(cout) * 0.02).astype("f4")))

    def classify(self, x, cin):
        """Global average, 1,000 classes, softmax."""
        x = self.op("Flatten", self.op("GlobalAveragePool", x))
        self.output(self.op("Softmax", self.gemm(x, cin, 1000)), ["N", 1000])

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="zoo")
        onnx.checker.check_model(model)
        return model


def resnet50():
    n = Net("resnet50")
    x = n.conv(n.input("x", ["N", 3, 224, 224]), 3, 64, 7, 2, act="relu")
    x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    cin = 64
    for stage, (mid, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for b in range(blocks):
            s = 2 if b == 0 and stage else 1
            y = n.conv(x, cin, mid, 1, act="relu")
            y = n.conv(y, mid, mid, 3, s, act="relu")
            y = n.conv(y, mid, mid * 4, 1)
            skip = n.conv(x, cin, mid * 4, 1, s) if b == 0 else x
            x, cin = n.op("Relu", n.op("Add", y, skip)), mid * 4
    n.classify(x, 2048)
    return n


# MobileNetV2's table of stages: expansion, channels, repeats, first stride.
MOBILENETV2_STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                      (6, 160, 3, 2), (6, 320, 1, 1)]


def mobilenetv2():
    n = Net("mobilenetv2")
    x, cin = n.conv(n.input("x", ["N", 3, 224, 224]), 3, 32, 3, 2, act="relu6"), 32
    for expansion, channels, repeats, stride in MOBILENETV2_STAGES:
        for i in range(repeats):
            s, y, mid = (stride if i == 0 else 1), x, cin * expansion
            if expansion != 1:
                y = n.conv(y, cin, mid, 1, act="relu6")
            y = n.conv(y, mid, mid, 3, s, group=mid, act="relu6")
            y = n.conv(y, mid, channels, 1)
            x, cin = (n.op("Add", x, y) if s == 1 and cin == channels else y), channels
    n.classify(n.conv(x, cin, 1280, 1, act="relu6"), 1280)
    return n


def squeezenet():
    n = Net("squeezenet")

    def conv(x, cin, cout, k, s=1, p=None):
        return n.conv(x, cin, cout, k, s, p, bn=False, bias=True, act="relu")

    def fire(x, cin, squeeze, expand):
        q = conv(x, cin, squeeze, 1)
        return n.op("Concat", conv(q, squeeze, expand, 1), conv(q, squeeze, expand, 3), axis=1)

    x, cin = conv(n.input("x", ["N", 3, 224, 224]), 3, 64, 3, 2, 0), 64
    for stage in [[(16, 64)] * 2, [(32, 128)] * 2, [(48, 192)] * 2 + [(64, 256)] * 2]:
        x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
        for squeeze, expand in stage:
            x, cin = fire(x, cin, squeeze, expand), expand * 2
    x = conv(x, cin, 1000, 1)
    n.output(n.op("Softmax", n.op("Flatten", n.op("GlobalAveragePool", x))), ["N", 1000])
    return n


class Transformer(Net):
    """Post-norm encoder (BERT) or pre-norm causal decoder (GPT-2).

    LayerNorm and Gelu are left as exporters decompose them.
    """

    def __init__(self, name, layers, d, heads, ff, vocab, causal=False):
        super().__init__(name)
        self.d, self.heads, self.causal = d, heads, causal
        ids = self.input("ids", ["N", "S"], T.INT64)
        seq = self.op("Gather", self.op("Shape", ids), self.int64s(1), axis=0)
        positions = self.weight(512, d, fan_in=d * d)
        pos = self.op("Slice", positions, self.int64s(0), seq, self.int64s(0))
        if causal:
            full = self.const(np.triu(np.full((512, 512), -1e9, np.float32), 1))
            # The order of these three constants is part of the file's bytes.
            start, end = self.int64s(0, 0), self.op("Concat", seq, seq, axis=0)
            self.mask = self.op("Slice", full, start, end, self.int64s(0, 1))
        words = self.op("Gather", self.weight(vocab, d, fan_in=d * d), ids, axis=0)
        x = self.op("Add", words, pos)
        x = x if causal else self.norm(x)
        for _ in range(layers):
            x = self.decoder_layer(x, ff) if causal else self.encoder_layer(x, ff)
        self.output(self.norm(x) if causal else x, ["N", "S", d])

    def decoder_layer(self, x, ff):
        x = self.op("Add", x, self.attention(self.norm(x)))
        y = self.gelu_tanh(self.linear(self.norm(x), self.d, ff))
        return self.op("Add", x, self.linear(y, ff, self.d))

    def encoder_layer(self, x, ff):
        x = self.norm(self.op("Add", x, self.attention(x)))
        y = self.linear(self.gelu_erf(self.linear(x, self.d, ff)), ff, self.d)
        return self.norm(self.op("Add", x, y))

    def norm(self, x):
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        squares = self.op("Pow", centred, self.scalar(2))
        var = self.op("ReduceMean", squares, axes=[-1])
        y = self.op("Div", centred, self.op("Sqrt", self.op("Add", var, self.scalar(1e-12))))
        y = self.op("Mul", y, self.const(np.ones(self.d, np.float32)))
        return self.op("Add", y, self.zeros(self.d))

    def gelu_tanh(self, x):
        cubic = self.op("Mul", self.op("Pow", x, self.scalar(3)), self.scalar(0.044715))
        t = self.op("Tanh", self.op("Mul", self.op("Add", x, cubic), self.scalar(0.7978845608)))
        half = self.op("Mul", x, self.scalar(0.5))
        return self.op("Mul", half, self.op("Add", t, self.scalar(1)))

    def gelu_erf(self, x):
        e = self.op("Erf", self.op("Div", x, self.scalar(1.4142135)))
        y = self.op("Mul", x, self.op("Add", e, self.scalar(1)))
        return self.op("Mul", y, self.scalar(0.5))

    def attention(self, x):
        d, heads = self.d, self.heads

        def split(y, perm):
            y = self.op("Reshape", y, self.int64s(0, 0, heads, d // heads))
            return self.op("Transpose", y, perm=perm)

        q = split(self.linear(x, d, d), [0, 2, 1, 3])
        k = split(self.linear(x, d, d), [0, 2, 3, 1])
        v = split(self.linear(x, d, d), [0, 2, 1, 3])
        s = self.op("Div", self.op("MatMul", q, k), self.scalar((d // heads) ** 0.5))
        if self.causal:
            s = self.op("Add", s, self.mask)
        y = self.op("MatMul", self.op("Softmax", s, axis=-1), v)
        y = self.op("Transpose", y, perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", y, self.int64s(0, 0, d)), d, d)


def minilm():
    return Transformer("minilm", 6, 384, 12, 1536, 30522)


def bert_base():
    return Transformer("bert_base", 12, 768, 12, 3072, 30522)


def gpt2_small():
    return Transformer("gpt2_small", 12, 768, 12, 3072, 50257, causal=True)


def lstm():
    n = Net("lstm")
    x, hidden, features = n.input("x", ["S", "N", 128]), 256, 128
    for _ in range(2):
        w = n.weight(1, 4 * hidden, features, fan_in=features)
        r = n.weight(1, 4 * hidden, hidden, fan_in=hidden)
        y = n.op("LSTM", x, w, r, n.zeros(1, 8 * hidden), hidden_size=hidden)
        x, features = n.op("Squeeze", y, n.int64s(1)), hidden
    n.output(n.op("MatMul", x, n.weight(hidden, 1000, fan_in=hidden)), ["S", "N", 1000])
    return n


def tinychain(length=1000):
    """length dependent element-wise nodes on 4 floats: times the dispatch of a node.

    Sin keeps a fuser from folding the chain.
    """
    n = Net("tinychain")
    x = n.input("x", [4])
    for i in range(length):
        x = n.op("Sin" if i % 2 else "Neg", x)
    n.output(x, [4])
    return n


def lenet():
    n = Net("lenet")
    x = n.input("x", ["N", 1, 28, 28])
    x = n.conv(x, 1, 6, 5, bn=False, bias=True, act="relu")
    x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = n.conv(x, 6, 16, 5, p=0, bn=False, bias=True, act="relu")
    x = n.op("Flatten", n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    for a, b in [(400, 120), (120, 84), (84, 10)]:
        x = n.gemm(x, a, b)
        x = n.op("Relu", x) if b != 10 else x
    n.output(x, ["N", 10])
    return n


def mlp():
    n = Net("mlp")
    x = n.input("x", ["N", 784])
    for a, b in [(784, 512), (512, 512), (512, 10)]:
        x = n.gemm(x, a, b)
        x = n.op("Relu", x) if b != 10 else x
    n.output(x, ["N", 10])
    return n


NETS = {net.__name__: net for net in (resnet50, mobilenetv2, squeezenet, bert_base, minilm,
                                      gpt2_small, lstm, lenet, mlp, tinychain)}


def write(name, path):
    """Writes network `name` to `path`, by a temporary file and a rename."""
    path = pathlib.Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        onnx.save(NETS[name]().model(), str(partial))
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("name", nargs="*", choices=[[], *NETS], help="default: all ten")
    args = parser.parse_args()
    args.directory.mkdir(parents=True, exist_ok=True)
    for name in args.name or NETS:
        path = args.directory / f"{name}.onnx"
        write(name, path)
        print(f"{path}  {path.stat().st_size >> 10} KiB", flush=True)


if __name__ == "__main__":
    main()
