"""Nets to train, as ONNX files for inference with first weights from a seed: those of
tools/bench/training/train.py and of the tests of `ge train`. Needs onnx and numpy.

  train_nets.py lenet|mlp FILE.onnx [SEED]"""
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


def uniform(rng, shape, fan_in):
    """PyTorch's first values of a layer."""
    bound = 1 / np.sqrt(fan_in)
    return rng.uniform(-bound, bound, shape).astype(np.float32)


class Net:
    def __init__(self, seed):
        self.rng, self.nodes, self.weights, self.last = np.random.default_rng(seed), [], {}, "x"

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

    def save(self, path, shape, dtype):
        self.nodes[-1].output[0] = "logits"
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.weights = {k: v.astype(dtype) for k, v in self.weights.items()}
        graph = helper.make_graph(
            self.nodes, "net", [helper.make_tensor_value_info("x", kind, shape)],
            [helper.make_tensor_value_info("logits", kind, [shape[0], 10])],
            [numpy_helper.from_array(v, k) for k, v in self.weights.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(path))
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


NETS = {"lenet": lenet, "mlp": mlp}

if __name__ == "__main__":
    NETS[sys.argv[1]](sys.argv[2], *map(int, sys.argv[3:]))
