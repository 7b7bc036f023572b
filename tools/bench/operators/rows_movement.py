"""Rows of operators that move, pick, count and reduce elements, and of those that make them."""
import numpy as np
from onnx import helper, numpy_helper

from operator_rows import flat, model_of, row

ANY = "f32 f16 f64 i64 u8"
SIGNED = "f32 f16 f64 i64 i32"


def one(d, n):
    return [d.x(*flat(n))]


def planes(d, n):
    wide = max(2, int((n / 16) ** 0.5) // 2 * 2)
    return d.x(1, 16, wide, wide)


def with_dims(*values):
    return lambda d, n: [d.x(*flat(n)), d.dims(*values)]


def copies():
    row("Transpose", f"{ANY} bf16 bool", one, {"perm": [1, 0]})
    row("Transpose", "f32 f16", lambda d, n: [d.x(1, max(1, n // 512), 8, 64)],
        {"perm": [0, 2, 1, 3]}, kind="heads")
    row("Transpose", "f32", lambda d, n: [planes(d, n)], {"perm": [0, 2, 3, 1]},
        kind="channels last")
    row("Concat", f"{ANY} bf16", lambda d, n: [d.x(*flat(n // 2)), d.x(*flat(n // 2))],
        {"axis": 0})
    row("Concat", "f32 i64", lambda d, n: [d.x(max(1, n // 64), 32), d.x(max(1, n // 64), 32)],
        {"axis": 1}, kind="last axis")
    row("Concat", "f32", lambda d, n: [d.x(max(1, n // 4), 1) for _ in range(4)], {"axis": 1},
        kind="columns")
    row("Split", f"{ANY}", one, {"axis": 1, "num_outputs": 2}, outputs=2)
    row("Slice", f"{ANY}", lambda d, n: [d.x(*flat(2 * n)), d.dims(0, 10), d.dims(10**6, 200),
                                              d.dims(0, 1)])
    row("Slice", "f32 i64", lambda d, n: [d.x(*flat(2 * n)), d.dims(0), d.dims(10**6), d.dims(1),
                                               d.dims(2)], kind="steps")
    row("Expand", f"{ANY} bool", lambda d, n: [d.x(1, 256), d.dims(*flat(n))])
    row("Tile", f"{ANY}", lambda d, n: [d.x(max(1, n // 256), 64), d.dims(1, 4)])
    row("Pad", f"{ANY}", lambda d, n: [planes(d, n), d.dims(0, 0, 1, 1, 0, 0, 1, 1)])
    row("Pad", "f32", lambda d, n: [planes(d, n), d.dims(0, 0, 1, 1, 0, 0, 1, 1)],
        {"mode": "reflect"}, kind="reflect")
    row("Reshape", "f32 i64", with_dims(-1))
    row("Identity", "f32", one)
    row("Flatten", "f32", one)
    row("Squeeze", "f32", lambda d, n: [d.x(1, n), d.dims(0)])
    row("Unsqueeze", "f32", with_dims(0))
    row("DepthToSpace", "f32 f64 u8", lambda d, n: [planes(d, n)], {"blocksize": 2})
    row("SpaceToDepth", "f32 f64 u8", lambda d, n: [planes(d, n)], {"blocksize": 2})
    row("Trilu", "f32 f64 i64 bool", lambda d, n: [d.x(*[max(2, int(n ** 0.5))] * 2)])
    row("ReverseSequence", "f32 i64", lambda d, n: [
        d.x(*flat(n, 64)), np.full(flat(n, 64)[1], flat(n, 64)[0], np.int64)])
    row("CenterCropPad", "f32", lambda d, n: [planes(d, n), d.dims(8, 8)], {"axes": [2, 3]})
    for mode, types in (("nearest", "f32 f16 u8"), ("linear", "f32 f16 u8"), ("cubic", "f32")):
        row("Resize", types, lambda d, n: [planes(d, n // 4), None,
                                               d.const([1, 1, 2, 2], np.float32)],
            {"mode": mode}, kind=mode)
    row("GridSample", "f32 f64", lambda d, n: [planes(d, n), d.within(-1, 1, 1, *[max(
        1, int((n / 16) ** 0.5))] * 2, 2)])
    row("AffineGrid", "f32 f64", lambda d, n: [
        d.x(1, 2, 3), d.dims(1, 3, *[max(2, int((n / 2) ** 0.5))] * 2)])


def picks():
    row("Gather", f"{ANY} bf16",
        lambda d, n: [d.const(d.x(1000, 64)), d.ints(1000, max(1, n // 64))], kind="rows")
    row("Gather", "f32 i64", lambda d, n: [d.x(max(1, n // 8), 64), d.ints(64, 8)], {"axis": 1},
        kind="columns")
    row("GatherElements", "f32 i64 u8", lambda d, n: [d.x(*flat(n)), d.ints(256, *flat(n)) % flat(
        n)[1]], {"axis": 1})
    row("GatherND", "f32 i64", lambda d, n: [d.x(64, 64, 32), d.ints(64, max(1, n // 32), 2)])
    row("ScatterElements", "f32 i64", scatter_elements, {"axis": 1})
    row("ScatterElements", "f32", scatter_elements, {"axis": 1, "reduction": "add"}, kind="add")
    row("ScatterND", "f32 i64", scatter_nd)
    for how in ("add", "max"):
        row("ScatterND", "f32", scatter_nd, {"reduction": how}, kind=how)
    row("OneHot", "f32 i64", lambda d, n: [d.ints(64, max(1, n // 64)),
                                                d.const([64], np.int64), d.const([0, 1])])
    row("Compress", "f32 i64", lambda d, n: [d.x(n), d.ints(2, n, dtype=np.bool_)])
    row("NonZero", "f32 i64 bool", lambda d, n: [d.x(*flat(n))])
    row("TopK", "f32 f64 i64", lambda d, n: [d.x(*flat(n)), d.dims(5)], outputs=2)
    row("TopK", "f32", lambda d, n: [d.x(*flat(n, 1000)), d.dims(100)], kind="100 of 1000",
        outputs=2)
    row("Unique", "f32 i64", lambda d, n: [d.x(n)], outputs=4)
    row("NonMaxSuppression", "f32", boxes)
    row("TfIdfVectorizer", "i64", lambda d, n: [d.ints(50, max(2, n))],
        {"max_gram_length": 2, "max_skip_count": 0, "min_gram_length": 1, "mode": "TF",
         "ngram_counts": [0, 20], "ngram_indexes": list(range(40)),
         "pool_int64s": list(range(20)) + [v for i in range(20) for v in (i, i + 1)]})


def scatter_elements(d, n):
    dims = flat(n)
    places = np.argsort(d.rng.random(dims), axis=1)
    return [d.x(*dims), places, d.x(*dims)]


def scatter_nd(d, n):
    rows = max(1, n // 32)
    return [d.x(2 * rows, 32), d.rng.permutation(2 * rows)[:rows, None], d.x(rows, 32)]


def boxes(d, n):
    corner = d.within(0, 1, 1, n, 2)
    return [np.concatenate([corner, corner + d.within(0.05, 0.3, 1, n, 2)], 2), d.within(0, 1, 1, 1, n),
            d.dims(100), d.const([0.5]), d.const([0.1])]


def reductions():
    for name, types in (("ReduceSum", SIGNED), ("ReduceMean", SIGNED), ("ReduceMax", f"{SIGNED} u8"),
                        ("ReduceMin", f"{SIGNED} u8"), ("ReduceProd", "f32 i64"),
                        ("ReduceL1", "f32 f64"), ("ReduceL2", "f32 f16 f64"),
                        ("ReduceLogSum", "f32"), ("ReduceLogSumExp", "f32 f64"),
                        ("ReduceSumSquare", "f32 f64")):
        values = (lambda d, n: [d.within(1, 2, *flat(n)), d.dims(1)]) if "Prod" in name or name.endswith(
            "LogSum") else with_dims(1)
        row(name, types, values)
    for name in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"):
        row(name, "f32 f64 i64" if name != "ReduceL2" else "f32", with_dims(0), kind="first axis")
    row("ReduceMean", "f32 f16", lambda d, n: [planes(d, n), d.dims(2, 3)], kind="planes")
    row("ReduceSum", "f32", lambda d, n: [d.x(*flat(n))], kind="all")
    for name in ("ArgMax", "ArgMin"):
        row(name, "f32 f16 f64 i32 u8", one, {"axis": 1})
    row("ArgMax", "f32", lambda d, n: [planes(d, n)], {"axis": 1}, kind="channels")
    row("CumSum", "f32 f64 i64", lambda d, n: [d.x(*flat(n)), d.const(1, np.int64)])
    row("CumSum", "f32", lambda d, n: [d.x(*flat(n)), d.const(0, np.int64)], kind="first axis")
    row("CumProd", "f32", lambda d, n: [d.within(0.99, 1.01, *flat(n)), d.const(1, np.int64)])


def makers():
    row("Range", "f32 i64 i32", lambda d, n: [
        np.asarray(0, d.type), np.asarray(n, d.type), np.asarray(1, d.type)])
    row("ConstantOfShape", "f32 i64", lambda d, n: [np.asarray(flat(n), np.int64)],
        lambda d, n: {"value": numpy_helper.from_array(np.ones(1, d.type))})
    row("EyeLike", "f32 i64", lambda d, n: [d.x(*[max(2, int(n ** 0.5))] * 2)])
    for name in ("RandomNormalLike", "RandomUniformLike"):
        row(name, "f32", one, drawn=True, opset=21)
    for name in ("RandomNormal", "RandomUniform"):
        row(name, "f32", lambda d, n: [], lambda d, n: {"shape": list(flat(n))}, drawn=True, opset=21)
    row("Multinomial", "f32", lambda d, n: [d.x(1, 100)], lambda d, n: {"sample_size": max(1, n)},
        drawn=True, opset=21)
    row("Shape", "f32", lambda d, n: [d.x(1, min(n, 10000))])
    row("Size", "f32", lambda d, n: [d.x(1, min(n, 10000))])
    for name in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        row(name, "i64", lambda d, n: [np.asarray(n, np.int64)])
    row("MelWeightMatrix", "i64", lambda d, n: [
        d.const(max(2, n // 512)), d.const(1024), np.asarray(16000, np.int64),
        d.const(0, np.float32), d.const(8000, np.float32)])


def signals():
    row("DFT", "f32 f64", lambda d, n: [d.x(max(1, n // 256), 256, 1), None, d.const(1, np.int64)])
    row("STFT", "f32", lambda d, n: [d.x(1, n + 400, 1), d.const(160, np.int64),
                                         d.const(np.hanning(400)), d.const(400, np.int64)])


def quantized_types():
    for code, name in ((np.uint8, "u8"), (np.int8, "i8"), (np.uint16, "u16"), (np.int16, "i16")):
        row("QuantizeLinear", "f32", lambda d, n, c=code: [
            d.x(*flat(n)), d.const(0.02), d.const(3, c)], kind=f"to {name}")
        row("DequantizeLinear", name, lambda d, n: [
            d.x(*flat(n)), d.const(0.02, np.float32), d.const(3)])
    row("DequantizeLinear", "i32", lambda d, n: [d.x(*flat(n)), d.const(0.02, np.float32)])
    row("DequantizeLinear", "i8", lambda d, n: [
        d.x(*flat(n)), d.const(d.rng.random(flat(n)[1]), np.float32)], {"axis": 1}, kind="an axis")
    row("DynamicQuantizeLinear", "f32", one, outputs=3)


def sequences():
    def split_join(d, n):
        feeds = {"x": d.x(16, max(1, n // 16))}
        nodes = [helper.make_node("SplitToSequence", ["x"], ["s"], axis=0),
                 helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0)]
        return {"model": model_of(nodes, feeds, ["y"]), "feeds": feeds}

    def pick(d, n):
        feeds = {f"x{i}": d.x(*flat(n // 3)) for i in range(3)} | {"i": np.asarray(1, np.int64)}
        nodes = [helper.make_node("SequenceConstruct", ["x0", "x1", "x2"], ["s"]),
                 helper.make_node("SequenceAt", ["s", "i"], ["y"])]
        return {"model": model_of(nodes, feeds, ["y"]), "feeds": feeds}
    row("SplitToSequence", "f32 i64", split_join, kind="and back")
    row("SequenceAt", "f32", pick)


copies()
picks()
reductions()
makers()
signals()
quantized_types()
sequences()
