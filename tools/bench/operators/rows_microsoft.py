"""Rows of com.microsoft's operators that exported and optimized models hold."""
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

from operator_rows import Const, flat, model_of, row, side

MICROSOFT = "com.microsoft"
HIDDEN, HEADS = 256, 4


def ms(name, types, inputs, attributes=None, **more):
    row(name, types, inputs, attributes, domain=MICROSOFT, **more)


def token_rows(n):
    """Rows of HIDDEN that n units make."""
    return max(1, n // HIDDEN)


def activations():
    for name in ("FastGelu", "BiasGelu"):
        ms(name, "f32", lambda d, n: [d.x(*flat(n)), d.weight(flat(n)[1])])
    ms("Gelu", "f32", lambda d, n: [d.x(*flat(n))])
    ms("QuickGelu", "f32", lambda d, n: [d.x(*flat(n))])


def norms():
    def skip(d, n):
        dims = (1, token_rows(n), HIDDEN)
        return [d.x(*dims), d.x(*dims), d.weight(HIDDEN), d.weight(HIDDEN)]
    ms("SkipLayerNormalization", "f32 f16", skip)
    ms("SkipSimplifiedLayerNormalization", "f32 f16", lambda d, n: skip(d, n)[:3])
    ms("GatedRMSNorm", "f32", lambda d, n: [d.x(*flat(n)), d.weight(flat(n)[1]), d.x(*flat(n))])
    ms("EmbedLayerNormalization", "f32", lambda d, n: [
        d.ints(1000, 1, min(512, token_rows(n)), dtype=np.int32),
        d.ints(2, 1, min(512, token_rows(n)), dtype=np.int32), d.weight(1000, HIDDEN),
        d.weight(512, HIDDEN), d.weight(2, HIDDEN), d.weight(HIDDEN), d.weight(HIDDEN)], outputs=2)


def products():
    ms("FusedMatMul", "f32 f64", lambda d, n: [d.x(side(n), side(n)), d.x(side(n), side(n))],
       {"transB": 1, "alpha": 0.125})
    ms("FusedGemm", "f32", lambda d, n: [d.x(side(n), side(n)), d.weight(side(n), side(n)),
                                               d.weight(side(n))], {"activation": "Relu"})
    ms("FusedConv", "f32", lambda d, n: [
        d.x(1, 32, *[max(4, int((n / 9216) ** 0.5))] * 2), d.weight(32, 32, 3, 3), d.weight(32)],
        {"activation": "Relu", "pads": [1] * 4})
    ms("Inverse", "f32 f64", lambda d, n: [
        d.x(side(n), side(n)) + 10 * np.eye(side(n), dtype=d.type)])
    ms("CDist", "f32 f64", lambda d, n: [d.x(max(1, n // 64), 16), d.x(64, 16)],
       {"metric": "euclidean"})


def packed():
    """Products by weights of few bits."""
    def nibbles(rows):
        def inputs(d, n):
            wide = max(32, int((n / rows) ** 0.5) // 32 * 32)
            return [d.x(rows, wide), Const(d.ints(256, wide, wide // 32, 16, dtype=np.uint8)),
                    d.const(d.within(0.01, 0.02, wide * (wide // 32)))]
        return inputs

    def sizes(rows):
        return lambda d, n: {"K": max(32, int((n / rows) ** 0.5) // 32 * 32), "bits": 4,
                             "N": max(32, int((n / rows) ** 0.5) // 32 * 32), "block_size": 32}
    ms("MatMulNBits", "f32 f16", nibbles(1), sizes(1), kind="one row")
    ms("MatMulNBits", "f32 f16", nibbles(16), sizes(16), kind="16 rows")
    ms("MatMulBnb4", "f32", bnb4, lambda d, n: {
        "K": max(32, int(n ** 0.5) // 32 * 32), "N": max(32, int(n ** 0.5) // 32 * 32),
        "block_size": 32, "quant_type": 1})
    ms("GatherBlockQuantized", "u8", lambda d, n: [
        Const(d.ints(256, 1000, 32, dtype=np.uint8)), d.ints(1000, max(1, n // 64)),
        Const(np.full((1000, 2), 0.01, np.float32))], {"block_size": 32, "bits": 4})


def bnb4(d, n):
    wide = max(32, int(n ** 0.5) // 32 * 32)
    return [d.x(1, wide), Const(d.ints(256, wide * wide // 2, dtype=np.uint8)),
            d.const(d.within(0.5, 1, wide * wide // 32))]


def attention():
    def steps(n):
        return max(4, int((n / HIDDEN / 2) ** 0.5))

    def three(d, n):
        return [d.x(1, steps(n), HIDDEN) for _ in range(3)]

    def packed_weights(d, n):
        return [d.x(1, max(4, n // HIDDEN // HIDDEN // 3), HIDDEN), d.weight(HIDDEN, 3 * HIDDEN),
                d.weight(3 * HIDDEN)]
    ms("MultiHeadAttention", "f32", three, {"num_heads": HEADS})
    ms("Attention", "f32", packed_weights, {"num_heads": HEADS})
    ms("QAttention", "u8", lambda d, n: [
        d.x(1, max(4, n // HIDDEN // HIDDEN // 3), HIDDEN), d.const(d.x(HIDDEN, 3 * HIDDEN)),
        Const(np.zeros(3 * HIDDEN, np.float32)), Const(np.float32(0.02)), Const(np.float32(0.01)),
        None, d.const(100), d.const(100)], {"num_heads": HEADS})
    ms("GroupQueryAttention", "f32 f16", grouped, {"num_heads": HEADS, "kv_num_heads": 2},
       outputs=3)
    ms("GroupQueryAttention", "f32", one_token, {"num_heads": HEADS, "kv_num_heads": 2},
       kind="one token", outputs=3)
    ms("RotaryEmbedding", "f32 f16", rotary)


def grouped(d, n, past=0):
    steps = max(4, int((n / HIDDEN / 2) ** 0.5))
    kv = HIDDEN // 2
    return [d.x(1, steps, HIDDEN), d.x(1, steps, kv), d.x(1, steps, kv),
            d.x(1, 2, past, kv // 2), d.x(1, 2, past, kv // 2),
            np.asarray([steps - 1], np.int32), Const(np.int32(steps))]


def one_token(d, n):
    past, kv = max(1, n // HIDDEN), HIDDEN // 2
    return [d.x(1, 1, HIDDEN), d.x(1, 1, kv), d.x(1, 1, kv), d.x(1, 2, past, kv // 2),
            d.x(1, 2, past, kv // 2), np.asarray([past], np.int32), Const(np.int32(past + 1))]


def rotary(d, n):
    steps = max(1, n // 512)
    angle = np.outer(np.arange(steps), np.arange(32)) / 32
    return [d.x(1, 8, steps, 64), np.zeros(1, np.int64), d.const(np.cos(angle)),
            d.const(np.sin(angle))]


def experts():
    def inputs(d, n):
        rows = max(1, n // (2 * 2 * 64 * 128))
        return [d.x(rows, 64), d.x(rows, 4), d.weight(4, 128, 64), d.weight(4, 128),
                d.weight(4, 64, 128), d.weight(4, 64)]
    ms("MoE", "f32", inputs, {"k": 2, "activation_type": "relu"})


def codes(d):
    return Const(np.float32(0.02)), d.const(3)


def quantized():
    def pair(d, n):
        return [d.x(*flat(n)), *codes(d), d.x(*flat(n)), *codes(d), *codes(d)]

    def single(d, n):
        return [d.x(*flat(n)), *codes(d), *codes(d)]

    def image(d, n):
        return [d.x(1, 32, *[max(3, int((n / 32) ** 0.5))] * 2), *codes(d), *codes(d)]
    for name in ("QLinearAdd", "QLinearMul"):
        ms(name, "u8 i8", pair)
    for name in ("QLinearSigmoid", "QLinearLeakyRelu"):
        ms(name, "u8 i8", single)
    ms("QLinearSoftmax", "u8", single, {"opset": 13, "axis": -1})
    ms("QLinearConcat", "u8", lambda d, n: [*codes(d), d.x(*flat(n // 2)), *codes(d),
                                                d.x(*flat(n // 2)), *codes(d)], {"axis": 0})
    ms("QLinearWhere", "u8", lambda d, n: [d.ints(2, *flat(n), dtype=np.bool_), *pair(d, n)])
    ms("QLinearAveragePool", "u8", image, {"kernel_shape": [3, 3], "strides": [2, 2]})
    ms("QLinearGlobalAveragePool", "u8", image)
    ms("QGemm", "u8", lambda d, n: [
        d.x(side(n), side(n)), *codes(d), d.const(d.x(side(n), side(n))), *codes(d),
        Const(np.zeros(side(n), np.int32)), *codes(d)])
    row("QLinearMatMul", "u8 i8", lambda d, n: [
        d.x(side(n), side(n)), *codes(d), d.const(d.x(side(n), side(n))), *codes(d), *codes(d)])
    row("QLinearConv", "u8 i8", lambda d, n: [
        d.x(1, 32, *[max(4, int((n / 9216) ** 0.5))] * 2), *codes(d), d.const(d.x(32, 32, 3, 3)),
        *codes(d), *codes(d), Const(np.zeros(32, np.int32))], {"pads": [1] * 4})
    ms("DynamicQuantizeMatMul", "f32", lambda d, n: [
        d.x(side(n), side(n)), Const(d.ints(200, side(n), side(n), dtype=np.uint8)),
        Const(np.float32([0.01])), Const(np.uint8([100]))])
    ms("MatMulIntegerToFloat", "u8", lambda d, n: [
        d.x(side(n), side(n)), d.const(d.x(side(n), side(n))), Const(np.float32([0.02])),
        Const(np.float32([0.01])), d.const(100), d.const(90)])
    ms("NhwcMaxPool", "u8", lambda d, n: [d.x(1, *[max(3, int((n / 32) ** 0.5))] * 2, 32)],
       {"kernel_shape": [3, 3], "strides": [2, 2]})


def others():
    ms("CropAndResize", "f32", lambda d, n: [
        d.x(1, 8, 64, 64), np.sort(d.within(0, 1, max(1, n // 1568), 4), 1),
        np.zeros(max(1, n // 1568), np.int32), Const(np.int32([14, 14]))])
    ms("GridSample", "f32", lambda d, n: [
        d.x(1, 16, 32, 32), d.within(-1, 1, 1, *[max(1, int((n / 16) ** 0.5))] * 2, 2)])
    ms("Trilu", "f32", lambda d, n: [d.x(*[max(2, int(n ** 0.5))] * 2)])
    ms("Pad", "f32", lambda d, n: [d.x(*flat(n)), Const(np.int64([0, 1, 0, 1])),
                                        Const(np.float32([0]))])
    ms("CausalConvWithState", "f32", lambda d, n: [d.x(1, 64, max(1, n // 256)), d.weight(64, 1, 4)],
       outputs=2)


def dynamic(nodes_of):
    """A model of float32 nodes, quantized as onnxruntime.quantization.quantize_dynamic does."""
    def make(d, n):
        import logging

        from onnxruntime.quantization import QuantType, quantize_dynamic
        nodes, feeds, outputs, weights = nodes_of(d, n)
        consts = [numpy_helper.from_array(v, k) for k, v in weights.items()]
        logging.disable(logging.WARNING)
        with tempfile.TemporaryDirectory() as folder:
            plain, small = (str(pathlib.Path(folder) / k) for k in ("plain.onnx", "small.onnx"))
            model = model_of(nodes, feeds, outputs, consts, 17)
            model.ir_version = 8
            for output in model.graph.output:
                output.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
            onnx.save(model, plain)
            quantize_dynamic(plain, small, weight_type=QuantType.QInt8)
            return {"model": onnx.load(small), "feeds": feeds}
    return make


def width(n):
    return 64 if n < 400000 else 256


def lstm(d, n):
    wide = width(n)
    feeds = {"x": d.x(max(2, n // (8 * wide * wide)), 1, wide)}
    weights = {"w": d.weight(1, 4 * wide, wide).array, "r": d.weight(1, 4 * wide, wide).array,
               "b": d.weight(1, 8 * wide).array}
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h"], hidden_size=wide)
    return [node], feeds, ["y", "h"], weights


def gru(d, n):
    """As exporters write a cell: MatMul, Split, pointwise, step after step."""
    wide = width(n)
    steps = max(2, min(32, n // (6 * wide * wide)))
    feeds = {f"x{t}": d.x(1, wide) for t in range(steps)} | {"h0": d.x(1, wide)}
    weights = {"w": d.weight(3 * wide, wide).array.T.copy(), "r": d.weight(3 * wide, wide).array.T.copy(),
               "b": d.weight(3 * wide).array, "one": np.float32(1)}
    nodes = []

    def add(op, inputs, *outputs, **more):
        nodes.append(helper.make_node(op, inputs, list(outputs), **more))
    for t in range(steps):
        add("MatMul", [f"x{t}", "w"], f"xw{t}")
        add("Add", [f"xw{t}", "b"], f"xb{t}")
        add("MatMul", [f"h{t}", "r"], f"hr{t}")
        add("Split", [f"xb{t}"], f"xz{t}", f"xr{t}", f"xn{t}", axis=1)
        add("Split", [f"hr{t}"], f"hz{t}", f"hq{t}", f"hn{t}", axis=1)
        add("Add", [f"xz{t}", f"hz{t}"], f"za{t}")
        add("Sigmoid", [f"za{t}"], f"z{t}")
        add("Add", [f"xr{t}", f"hq{t}"], f"ra{t}")
        add("Sigmoid", [f"ra{t}"], f"r{t}")
        add("Mul", [f"r{t}", f"hn{t}"], f"rn{t}")
        add("Add", [f"xn{t}", f"rn{t}"], f"na{t}")
        add("Tanh", [f"na{t}"], f"n{t}")
        add("Sub", ["one", f"z{t}"], f"o{t}")
        add("Mul", [f"o{t}", f"n{t}"], f"on{t}")
        add("Mul", [f"z{t}", f"h{t}"], f"zh{t}")
        add("Add", [f"on{t}", f"zh{t}"], f"h{t + 1}")
    return nodes, feeds, [f"h{steps}"], weights


activations()
norms()
products()
packed()
attention()
experts()
quantized()
others()
ms("DynamicQuantizeLSTM", "f32", dynamic(lstm), kind="quantize_dynamic")
row("GRU", "f32", dynamic(gru), kind="quantize_dynamic")
