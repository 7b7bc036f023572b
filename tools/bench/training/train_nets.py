"""Nets to train, as ONNX files for inference with first weights from a seed: those of
tools/bench/training/train.py and of the tests of `ge train`. Needs onnx and numpy.

  train_nets.py lenet|mlp|mlp_wide|bert FILE.onnx [SEED]"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def uniform(rng, shape, fan_in):
    """PyTorch's first values of a layer."""
    bound = 1 / np.sqrt(fan_in)
    return rng.uniform(-bound, bound, shape).astype(np.float32)


class Net:
    def __init__(self, seed):
        self.rng, self.nodes, self.last = np.random.default_rng(seed), [], "x"
        self.weights, self.constants = {}, {}

    def node(self, op, *more, **attrs):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.last, *more], [out], **attrs))
        self.last = out

    def layer(self, op, name, shape, fan_in, **attrs):
        self.weights[f"{name}.weight"] = uniform(self.rng, shape, fan_in)
        self.weights[f"{name}.bias"] = uniform(self.rng, shape[:1], fan_in)
        self.node(op, f"{name}.weight", f"{name}.bias", **attrs)

    def conv(self, name, channels, out, pad):
        self.layer("Conv", name, (out, channels, 5, 5), channels * 25, pads=[pad] * 4,
                   kernel_shape=[5, 5])

    def linear(self, name, fan_in, out):
        self.layer("Gemm", name, (out, fan_in), fan_in, transB=1)

    def constant(self, name, value):
        """What is no weight: shapes and the like, and scalars in the dtype of the weights."""
        self.constants[name] = np.asarray(value)
        return name

    def save(self, path, shape, dtype, ids=False, opset=17):
        """ids: the input holds whole numbers."""
        self.nodes[-1].output[0] = "logits"
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.weights = {k: v.astype(dtype) for k, v in self.weights.items()}
        held = {**self.weights, **{k: v.astype(dtype) if v.dtype.kind == "f" else v
                                   for k, v in self.constants.items()}}
        graph = helper.make_graph(
            self.nodes, "net",
            [helper.make_tensor_value_info("x", TensorProto.INT64 if ids else kind, shape)],
            [helper.make_tensor_value_info("logits", kind, [shape[0], 10])],
            [numpy_helper.from_array(v, k) for k, v in held.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                    ir_version=9), str(path))
        return self.weights


def lenet(path, seed=0, batch="N", dtype=np.float32):
    net = Net(seed)
    for name, channels, out, pad in (("conv1", 1, 6, 2), ("conv2", 6, 16, 0)):
        net.conv(name, channels, out, pad)
        net.node("Relu")
        net.node("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    net.node("Flatten")
    for name, fan_in, out in (("fc1", 400, 120), ("fc2", 120, 84)):
        net.linear(name, fan_in, out)
        net.node("Relu")
    net.linear("fc3", 84, 10)
    return net.save(path, [batch, 1, 28, 28], dtype)


def mlp(path, seed=0, batch="N", dtype=np.float32):
    net = Net(seed)
    for name, fan_in in (("fc1", 784), ("fc2", 512)):
        net.linear(name, fan_in, 512)
        net.node("Relu")
    net.linear("fc3", 512, 10)
    return net.save(path, [batch, 784], dtype)


def mlp_wide(path, seed=0, batch="N", dtype=np.float32, layers=8, width=1024):
    """What the peers of tools/bench/parallel.py were seen with: 8 layers of 1,024."""
    net = Net(seed)
    for i in range(layers):
        net.linear(f"fc{i + 1}", width, width)
        net.node("Relu")
    net.linear("last", width, 10)
    return net.save(path, [batch, width], dtype)


class Bert(Net):
    """Blocks as in BERT, normalised behind each sum; classes by the mean of the last tokens."""

    def __init__(self, seed, width, heads, tokens):
        super().__init__(seed)
        self.width, self.heads, self.tokens = width, heads, tokens

    def product(self, x, name, fan_in, out):
        self.last = x
        self.weights[f"{name}.weight"] = uniform(self.rng, (fan_in, out), fan_in)
        self.weights[f"{name}.bias"] = uniform(self.rng, (out,), fan_in)
        self.node("MatMul", f"{name}.weight")
        self.node("Add", f"{name}.bias")
        return self.last

    def norm(self, x, name):
        self.last = x
        self.weights[f"{name}.weight"] = np.ones(self.width, np.float32)
        self.weights[f"{name}.bias"] = np.zeros(self.width, np.float32)
        self.node("LayerNormalization", f"{name}.weight", f"{name}.bias", axis=-1, epsilon=1e-5)
        return self.last

    def sum_of(self, x, y):
        self.last = x
        self.node("Add", y)
        return self.last

    def split(self, x, name, order):
        self.last = self.product(x, name, self.width, self.width)
        self.node("Reshape", "heads")
        self.node("Transpose", perm=order)
        return self.last

    def attention(self, x, name):
        q, k, v = (self.split(x, f"{name}.{part}", order) for part, order in
                   (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])))
        self.last = q
        self.node("MatMul", k)
        self.node("Mul", "scale")
        self.node("Softmax", axis=-1)
        self.node("MatMul", v)
        self.node("Transpose", perm=[0, 2, 1, 3])
        self.node("Reshape", "joined")
        return self.product(self.last, f"{name}.out", self.width, self.width)

    def block(self, x, name):
        x = self.norm(self.sum_of(x, self.attention(x, name)), f"{name}.norm1")
        self.product(x, f"{name}.up", self.width, 4 * self.width)
        self.node("Gelu")
        y = self.product(self.last, f"{name}.down", 4 * self.width, self.width)
        return self.norm(self.sum_of(x, y), f"{name}.norm2")


def bert(path, seed=0, batch="N", dtype=np.float32, layers=4, width=256, tokens=64, words=1000,
         heads=4):
    net = Bert(seed, width, heads, tokens)
    net.weights["word"] = net.rng.standard_normal((words, width)).astype(np.float32)
    net.weights["place"] = net.rng.standard_normal((tokens, width)).astype(np.float32)
    net.constant("heads", [0, tokens, heads, width // heads])
    net.constant("joined", [0, tokens, width])
    net.constant("scale", (width // heads) ** -.5)
    net.nodes.append(helper.make_node("Gather", ["word", "x"], ["looked_up"]))
    x = net.sum_of("looked_up", "place")
    for i in range(layers):
        x = net.block(x, f"block{i}")
    net.last = x
    net.node("ReduceMean", net.constant("along", [1]), keepdims=0)
    net.product(net.last, "head", width, 10)
    return net.save(path, [batch, tokens], dtype, ids=True, opset=20)


NETS = {"lenet": lenet, "mlp": mlp, "mlp_wide": mlp_wide, "bert": bert}

if __name__ == "__main__":
    NETS[sys.argv[1]](sys.argv[2], *map(int, sys.argv[3:]))
