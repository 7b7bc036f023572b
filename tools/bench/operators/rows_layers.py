"""Rows of layers of networks: products, convolutions, pools, norms, attention, recurrences."""
import math

import numpy as np
from onnx import TensorProto, helper

from operator_rows import flat, row, side


def square(d, n):
    k = side(n)
    return [d.x(k, k), d.weight(k, k)]


def computed(d, n):
    k = side(n)
    return [d.x(k, k), d.x(k, k)]


def batched(d, n):
    k = side(n / 8)
    return [d.x(8, k, k), d.x(8, k, k)]


def one_row(d, n):
    k = max(8, int(n ** 0.5))
    return [d.x(1, k), d.weight(k, k)]


def gemm(d, n):
    k = side(n)
    return [d.x(k, k), d.weight(k, k), d.weight(k)]


def image(d, n, channels, per):
    """[1, channels, h, h] where an element of the output costs `per` units."""
    edge = max(5, int((n / per / channels) ** 0.5))
    return d.x(1, channels, edge, edge)


def conv(channels, kernel, group=1):
    per = channels // group * kernel * kernel
    return lambda d, n: [image(d, n, channels, per),
                         d.weight(channels, channels // group, kernel, kernel), d.weight(channels)]


def conv_1d(channels, kernel, group):
    def make(d, n):
        long = max(kernel, n // (channels * (channels // group) * kernel))
        return [d.x(1, channels, long), d.weight(channels, channels // group, kernel),
                d.weight(channels)]
    return make


def transposed(d, n):
    return [image(d, n, 16, 16 * 16), d.weight(16, 16, 4, 4), d.weight(16)]


def pads(kernel):
    return {"pads": [kernel // 2] * 4}


def products():
    row("MatMul", "f32 f16 f64", square)
    row("MatMul", "i64 i32", square)
    row("MatMul", "f32 f16 f64", batched, kind="batched")
    row("MatMul", "f32 f16 f64", one_row, kind="one row")
    row("MatMul", "f32", computed, kind="computed")
    row("Gemm", "f32 f16 f64", gemm)
    row("Gemm", "f32", gemm, {"transB": 1}, kind="transB")
    row("Gemm", "f32", lambda d, n: one_row(d, n) + [d.weight(max(8, int(n ** 0.5)))],
        kind="one row")
    row("Einsum", "f32 f64", batched, {"equation": "bij,bjk->bik"})
    row("Einsum", "f32", batched, {"equation": "bij,bkj->bik"}, kind="transposed")
    row("MatMulInteger", "u8 i8", lambda d, n: [d.x(side(n), side(n)),
                                                      d.const(d.x(side(n), side(n)))])
    row("MatMulInteger", "u8", computed, kind="computed")
    row("Det", "f32", lambda d, n: [d.x(side(n), side(n))])


def convolutions():
    row("Conv", "f32 f16", conv(32, 3), pads(3))
    row("Conv", "f32", conv(64, 1), kind="1x1")
    row("Conv", "f32 f16", conv(32, 3, 32), {**pads(3), "group": 32}, kind="depthwise")
    row("Conv", "f32", conv(32, 3, 4), {**pads(3), "group": 4}, kind="grouped")
    row("Conv", "f32", conv_1d(32, 5, 1), {"pads": [2, 2]}, kind="one axis")
    row("Conv", "f32", conv_1d(64, 4, 64), {"group": 64, "pads": [3, 0]},
        kind="one axis, depthwise")
    row("Conv", "f32", lambda d, n: [image(d, n, 32, 32 * 9), d.x(32, 32, 3, 3)], pads(3),
        kind="computed weight")
    row("Conv", "f32", lambda d, n: [d.x(1, 8, *[max(4, int((n / 8 / 216) ** (1 / 3)))] * 3),
                                           d.weight(8, 8, 3, 3, 3)], {"pads": [1] * 6},
        kind="three axes")
    row("ConvTranspose", "f32 f16", transposed, {"strides": [2, 2], "pads": [1] * 4})
    row("ConvTranspose", "f32",
        lambda d, n: [image(d, n, 32, 4 * 16), d.weight(32, 4, 4, 4)],
        {"strides": [2, 2], "pads": [1] * 4, "group": 8}, kind="grouped")
    row("ConvTranspose", "f32", lambda d, n: [image(d, n, 16, 16 * 16), d.x(16, 16, 4, 4)],
        {"strides": [2, 2], "pads": [1] * 4}, kind="computed weight")
    row("ConvInteger", "u8", lambda d, n: [image(d, n, 16, 16 * 9),
                                                 d.const(d.x(16, 16, 3, 3))], pads(3))
    row("DeformConv", "f32 f64", deform)
    row("Col2Im", "f32", lambda d, n: [d.x(1, 9 * 8, (max(4, int((n / 72) ** 0.5))) ** 2),
                                            d.dims(*[max(4, int((n / 72) ** 0.5)) + 2] * 2),
                                            d.dims(3, 3)])


def deform(d, n):
    edge = max(4, int((n / 8 / 72) ** 0.5))
    return [d.x(1, 8, edge + 2, edge + 2), d.weight(8, 8, 3, 3), d.x(1, 18, edge, edge)]


def pools():
    attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
    for name, types in (("MaxPool", "f32 f16 f64 i8 u8"), ("AveragePool", "f32 f16"),
                        ("LpPool", "f32")):
        row(name, types, lambda d, n: [image(d, n, 32, 1)], attributes)
    row("MaxPool", "f32", lambda d, n: [image(d, n, 32, 1)], attributes, kind="indices",
        outputs=2)
    for name, types in (("GlobalAveragePool", "f32 f16"), ("GlobalMaxPool", "f32"),
                        ("GlobalLpPool", "f32")):
        row(name, types, lambda d, n: [image(d, n, 32, 1)], opset=21)
    row("MaxUnpool", "f32", unpool, {"kernel_shape": [2, 2], "strides": [2, 2]})
    row("MaxRoiPool", "f32", lambda d, n: [d.x(1, 16, 64, 64), rois(d, max(1, n // 4096))],
        {"pooled_shape": [7, 7]}, opset=21)
    row("RoiAlign", "f32 f64", lambda d, n: [d.x(1, 16, 32, 32), rois(d, max(1, n // 784))[:, 1:],
                                                d.ints(1, max(1, n // 784))],
        {"output_height": 7, "output_width": 7, "sampling_ratio": 2}, opset=21)


def rois(d, count):
    start = d.within(0, 12, count, 2)
    first = np.zeros((count, 1), d.type)
    return np.concatenate([first, start, start + d.within(4, 16, count, 2)], 1).astype(d.type)


def unpool(d, n):
    edge = max(2, int((n / 16) ** 0.5))
    place = np.arange(edge * edge * 16).reshape(1, 16, edge, edge)
    row_, column = place // edge, place % edge
    return [d.x(1, 16, edge, edge), (row_ * 2 * edge * 2 + column * 2).astype(np.int64)]


def norms():
    row("BatchNormalization", "f32 f16 f64",
        lambda d, n: [image(d, n, 32, 1), *[d.const(d.within(1, 2, 32)) for _ in range(4)]])
    row("InstanceNormalization", "f32 f16",
        lambda d, n: [image(d, n, 32, 1), d.weight(32), d.weight(32)])
    row("GroupNormalization", "f32 f16",
        lambda d, n: [image(d, n, 32, 1), d.weight(32), d.weight(32)], {"num_groups": 8})
    row("LayerNormalization", "f32 f16 f64 bf16",
        lambda d, n: [d.x(*flat(n)), d.weight(flat(n)[1]), d.weight(flat(n)[1])])
    row("RMSNormalization", "f32 f16", lambda d, n: [d.x(*flat(n)), d.weight(flat(n)[1])])
    row("LpNormalization", "f32 f64", lambda d, n: [d.x(*flat(n))])
    row("MeanVarianceNormalization", "f32", lambda d, n: [image(d, n, 16, 1)])
    row("LRN", "f32", lambda d, n: [image(d, n, 32, 1)], {"size": 5})
    for name, types in (("Softmax", "f32 f16 f64"), ("LogSoftmax", "f32 f16 f64"),
                        ("Hardmax", "f32")):
        row(name, types, lambda d, n: [d.x(*flat(n))])
        if name != "Hardmax":
            row(name, "f32", lambda d, n: [d.x(*flat(n))], {"axis": 0}, kind="first axis")
    row("NegativeLogLikelihoodLoss", "f32",
        lambda d, n: [d.x(max(1, n // 32), 32), d.ints(32, max(1, n // 32))])
    row("SoftmaxCrossEntropyLoss", "f32",
        lambda d, n: [d.x(max(1, n // 32), 32), d.ints(32, max(1, n // 32))])


def heads(d, n, past=0):
    steps = max(4, int((n / 8 / 64 / 2) ** 0.5))
    return [d.x(1, 8, steps, 64) for _ in range(3)]


def attention():
    row("Attention", "f32 f16", heads)
    row("Attention", "f32", heads, {"is_causal": 1}, kind="causal")
    row("RotaryEmbedding", "f32 f16", rotary)
    row("TensorScatter", "f32", lambda d, n: [d.x(1, 8, max(4, n // 512), 64), d.x(1, 8, 2, 64),
                                                   d.ints(1, 1)])


def rotary(d, n):
    steps = max(1, n // 512)
    angle = np.outer(np.arange(steps), np.arange(32)) / 32
    return [d.x(1, 8, steps, 64), d.const(np.cos(angle)[None]), d.const(np.sin(angle)[None])]


def recurrent(gates, biases):
    def make(d, n):
        wide = 64 if n < 400000 else 128
        steps = max(2, n // (2 * gates * wide * wide))
        return [d.x(steps, 1, wide), d.weight(1, gates * wide, wide), d.weight(1, gates * wide, wide),
                d.weight(1, biases * wide)]
    return make


def width(d, n):
    return {"hidden_size": 64 if n < 400000 else 128}


def cell(gates):
    """The body of a Scan: h = tanh(x W + h R), as a loop in a graph is exported."""
    nodes = [helper.make_node("MatMul", ["x_t", "w"], ["a"]),
             helper.make_node("MatMul", ["h_in", "r"], ["b"]),
             helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Tanh", ["c"], ["h_out"]),
             helper.make_node("Identity", ["h_out"], ["y_t"])]
    info = [helper.make_tensor_value_info(k, TensorProto.FLOAT, [1, gates])
            for k in ("h_in", "x_t", "h_out", "y_t")]
    rng = np.random.default_rng(1)
    weights = [helper.make_tensor(k, TensorProto.FLOAT, [gates, gates],
                                  (rng.standard_normal(gates * gates) / math.sqrt(gates)).tolist())
               for k in ("w", "r")]
    return helper.make_graph(nodes, "cell", info[:2], info[2:], weights)


def recurrences():
    row("RNN", "f32", recurrent(1, 2), width, outputs=2)
    row("GRU", "f32", recurrent(3, 6), lambda d, n: {**width(d, n), "linear_before_reset": 1},
        outputs=2)
    row("LSTM", "f32", recurrent(4, 8), width, outputs=3)
    row("Scan", "f32", lambda d, n: [d.x(1, 64), d.x(max(1, n // 8192), 1, 64)],
        {"body": cell(64), "num_scan_inputs": 1}, outputs=2)


products()
convolutions()
pools()
norms()
attention()
recurrences()
