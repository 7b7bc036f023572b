"""How a row of the sweep is written: one operator, its types, and how large its inputs are.

A file rows_*.py holds calls of row(). `inputs(d, n)` draws the arrays of a node that has about n units
of work; d.const() marks what a model keeps as an initializer, None an input left out. sizes.json
holds the three n of each row, measured once so that they are the same everywhere
(operators.py --sizes): ONNX Runtime took about 10 us, 100 us and 1 ms with them.
"""
import json
import math
import pathlib

import ml_dtypes
import numpy as np
from onnx import helper, numpy_helper

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
         "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
         "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "bool": np.bool_}
SIZES = {"small": 10, "middle": 100, "large": 1000}  # us that ONNX Runtime shall take, about
SIZES_FILE = pathlib.Path(__file__).with_name("sizes.json")
MEASURED = json.loads(SIZES_FILE.read_text()) if SIZES_FILE.exists() else {}
UNMEASURED = 1000  # units for each us
OPSET, IR_VERSION = 26, 11  # the newest that ONNX Runtime 1.31 calls released
DOMAINS = {"": OPSET, "com.microsoft": 1, "ai.onnx.ml": 4}
ROWS = []
POOL = 100003  # numbers; a prime, so that rows differ


class Const:
    """An array that the model keeps."""

    def __init__(self, array):
        self.array = np.asarray(array)


class Draw:
    """Random arrays of a row's type. Large ones repeat POOL numbers, which takes less time."""

    def __init__(self, seed, type_name):
        self.rng = np.random.default_rng(seed)
        self.type = np.dtype(TYPES[type_name])
        self.real = self.type.kind not in "iub"  # bfloat16's kind is V

    def x(self, *dims):
        """Normal numbers, or small integers."""
        if self.real:
            return self._spread(dims, lambda n: self.rng.standard_normal(n, np.float32), self.type)
        low = 0 if self.type.kind in "ub" else -50
        return self.ints(2 if self.type.kind == "b" else 100 if low else 200, *dims, low=low,
                         dtype=self.type)

    def within(self, low, high, *dims):
        """Uniform in [low, high)."""
        if self.real:
            return self._spread(dims, lambda n: self.rng.uniform(low, high, n), self.type)
        return self.ints(high, *dims, low=low, dtype=self.type)

    def _spread(self, dims, draw, dtype):
        count = math.prod(dims)
        return np.resize(draw(min(count, POOL)).astype(dtype), dims)

    def weight(self, *dims):
        """A constant whose sums over all but the first dim stay near 1."""
        if not self.real:
            return Const(self.x(*dims))
        fan = math.prod(dims[1:]) or 1
        return Const((self.x(*dims).astype(np.float32) / math.sqrt(fan)).astype(self.type))

    def const(self, array, dtype=None):
        return Const(np.asarray(array, self.type if dtype is None else dtype))

    def ints(self, below, *dims, low=0, dtype=np.int64):
        return self._spread(dims, lambda n: self.rng.integers(low, below, n), dtype)

    def dims(self, *values):
        return Const(np.asarray(values, np.int64))


def row(name, types, inputs, attributes=None, kind="", outputs=1, domain="", drawn=False, opset=None):
    """`kind` names a variant of the operator; `drawn`: the answer is random, only its shape is
    compared; `attributes` may be a function of (d, n); `inputs` may answer {"model": ModelProto,
    "feeds": {name: array}} instead of arrays."""
    for type_name in types.split():
        ROWS.append({"op": name, "kind": kind, "type": type_name, "inputs": inputs,
                     "attributes": attributes or {}, "outputs": outputs, "domain": domain,
                     "drawn": drawn, "opset": opset})


def label(row_):
    return row_["op"] + (f"/{row_['kind']}" if row_["kind"] else "")


def side(n, step=8):
    """The edge of a cube of n units of work, a multiple of `step`."""
    return max(step, int(round(n ** (1 / 3) / step)) * step)


def flat(n, wide=256):
    """A matrix of about n elements."""
    return (max(1, n // wide), min(n, wide))


def units(row_):
    """{size: n}."""
    found = MEASURED.get(f"{label(row_)} {row_['type']}")
    return dict(zip(SIZES, found)) if found else {k: v * UNMEASURED for k, v in SIZES.items()}


def make(row_, size, seed):
    """(ModelProto, {input: array}) of a row at one of SIZES."""
    n, d = units(row_)[size], Draw(seed, row_["type"])
    arrays = row_["inputs"](d, n)
    if isinstance(arrays, dict):
        return arrays["model"], arrays["feeds"]
    attributes = row_["attributes"]
    if callable(attributes):
        attributes = attributes(d, n)
    return single(row_, arrays, attributes)


def single(row_, arrays, attributes):
    names, feeds, consts = [], {}, []
    for i, array in enumerate(arrays):
        names.append("" if array is None else f"x{i}")
        if isinstance(array, Const):
            consts.append(numpy_helper.from_array(array.array, f"x{i}"))
        elif array is not None:
            feeds[f"x{i}"] = np.ascontiguousarray(array)
    outputs = [f"y{i}" for i in range(row_["outputs"])]
    node = helper.make_node(row_["op"], names, outputs, domain=row_["domain"], **attributes)
    return model_of([node], feeds, outputs, consts, row_["opset"]), feeds


def model_of(nodes, feeds, outputs, consts=(), opset=None):
    """A model whose outputs have no type: both runtimes infer it."""
    inputs = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
              for k, v in feeds.items()]
    graph = helper.make_graph(nodes, "sweep", inputs,
                              [helper.make_empty_tensor_value_info(o) for o in outputs], list(consts))
    opsets = [helper.make_opsetid(k, opset or v if not k else v) for k, v in DOMAINS.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
