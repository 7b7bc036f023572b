"""A decoder in GPT-2's shape, with seeded random weights, as an exporter writes it: past keys and
values are inputs, present ones outputs; positions and the causal mask come from the sizes of the
past and of the ids, by nodes. Needs numpy and onnx; never committed as a file.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Graph:
    """Nodes and constants in the order in which they are asked for."""

    def __init__(self, seed, bits=32, level=0):
        self.nodes, self.constants, self.bits, self.level = [], [], bits, level
        self.random = np.random.default_rng(seed)

    def put(self, op, inputs, outputs=1, name=None, **attrs):
        names = [name or f"/{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, f"/{op}_{len(self.nodes)}", **attrs))
        return names[0] if outputs == 1 else names

    def const(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.const(np.array(values, np.int64))

    def weight(self, *shape, scale=0.02):
        return self.const((self.random.standard_normal(shape) * scale).astype(np.float32))

    def size(self, value, axis):
        return self.put("Gather", [self.put("Shape", [value]), self.const(np.int64(axis))], axis=0)

    def one(self, scalar):
        return self.put("Unsqueeze", [scalar, self.ints(0)])


def coded(g, x, inner, outer, bias=""):
    """MatMulNBits: 4 bits, blocks of 32 rows, half of all codes for zero, as LLMs are exported."""
    block = 32
    blocks = -(-inner // block)
    weight = np.zeros((outer, blocks * block), np.float32)
    weight[:, :inner] = g.random.standard_normal((outer, inner)) * 0.02
    weight = weight.reshape(outer, blocks, block)
    scales = np.maximum(np.abs(weight).max(-1), 1e-9).astype(np.float32) / 7
    codes = (np.rint(weight / scales[..., None]) + 8).astype(np.uint8)
    packed = codes[..., ::2] | codes[..., 1::2] << 4
    inputs = [x, g.const(packed), g.const(scales.reshape(-1)), "", "", bias]
    while not inputs[-1]:
        inputs.pop()
    return g.put("MatMulNBits", inputs, domain="com.microsoft", K=inner, N=outer, bits=4,
                 block_size=block, accuracy_level=g.level)


def norm(g, x, width):
    """LayerNormalization in its steps."""
    mean = g.put("ReduceMean", [x, g.ints(-1)])
    off = g.put("Sub", [x, mean])
    square = g.put("Pow", [off, g.const(np.float32(2))])
    spread = g.put("Add", [g.put("ReduceMean", [square, g.ints(-1)]), g.const(np.float32(1e-5))])
    unit = g.put("Div", [off, g.put("Sqrt", [spread])])
    gain = g.const(np.ones(width, np.float32) + g.random.standard_normal(width).astype(np.float32) * 0.1)
    return g.put("Add", [g.put("Mul", [unit, gain]), g.weight(width)])


def linear(g, x, inner, outer, batch, length):
    """A product of rows, as Conv1D of GPT-2 is exported."""
    if g.bits == 4:
        return coded(g, x, inner, outer, g.weight(outer))
    rows = g.put("Reshape", [x, g.ints(-1, inner)])
    y = g.put("Gemm", [rows, g.weight(inner, outer), g.weight(outer)])
    shape = g.put("Concat", [g.one(batch), g.one(length), g.ints(outer)], axis=0)
    return g.put("Reshape", [y, shape])


def gelu(g, x):
    cube = g.put("Pow", [x, g.const(np.float32(3))])
    inner = g.put("Add", [x, g.put("Mul", [cube, g.const(np.float32(0.044715))])])
    tanh = g.put("Tanh", [g.put("Mul", [inner, g.const(np.float32(0.7978845608028654))])])
    half = g.put("Mul", [x, g.const(np.float32(0.5))])
    return g.put("Mul", [half, g.put("Add", [tanh, g.const(np.float32(1))])])


def attention(g, x, layer, shape, batch, length, causal, mask):
    width, heads = shape["width"], shape["heads"]
    parts = g.put("Split", [linear(g, x, width, 3 * width, batch, length), g.ints(*[width] * 3)], 3,
                  axis=2)
    split = g.put("Concat", [g.one(batch), g.one(length), g.ints(heads, width // heads)], axis=0)
    q, k, v = (g.put("Transpose", [g.put("Reshape", [p, split])], perm=[0, 2, 1, 3]) for p in parts)
    k = g.put("Concat", [f"past_key_values.{layer}.key", k], name=f"present.{layer}.key", axis=-2)
    v = g.put("Concat", [f"past_key_values.{layer}.value", v], name=f"present.{layer}.value", axis=-2)
    scores = g.put("MatMul", [q, g.put("Transpose", [k], perm=[0, 1, 3, 2])])
    scores = g.put("Div", [scores, g.const(np.float32((width // heads) ** 0.5))])
    all_rows, new_rows = g.size(k, 2), g.size(q, 2)
    begin = g.put("Sub", [all_rows, new_rows])
    rows = g.put("Slice", [causal, g.one(begin), g.one(all_rows), g.ints(2), g.ints(1)])
    seen = g.put("Slice", [rows, g.ints(0), g.one(all_rows), g.ints(3), g.ints(1)])
    lowest = g.const(np.float32(np.finfo(np.float32).min))
    scores = g.put("Where", [seen, scores, lowest])
    if mask:
        scores = g.put("Add", [scores, mask])
    mixed = g.put("MatMul", [g.put("Softmax", [scores], axis=-1), v])
    joined = g.put("Concat", [g.one(batch), g.one(length), g.ints(width)], axis=0)
    mixed = g.put("Reshape", [g.put("Transpose", [mixed], perm=[0, 2, 1, 3]), joined])
    return linear(g, mixed, width, width, batch, length)


def mask_of(g, batch):
    """What attention_mask adds to the scores."""
    flat = g.put("Reshape", ["attention_mask", g.put("Concat", [g.one(batch), g.ints(-1)], axis=0)])
    wide = g.put("Unsqueeze", [flat, g.ints(1, 2)])
    off = g.put("Sub", [g.const(np.float32(1)), g.put("Cast", [wide], to=F32)])
    return g.put("Mul", [off, g.const(np.float32(np.finfo(np.float32).min))])


def build(layers=12, width=768, heads=12, vocabulary=50257, positions=1024, seed=7, mask=False,
          last_only=False, bits=32, level=0):
    """An onnx.ModelProto. `mask`: with an input attention_mask; `last_only`: logits of the last id
    alone, as a model that is to make text is exported; `bits`: of weights that are multiplied, 32 or
    4."""
    g = Graph(seed, bits, level)
    shape = {"width": width, "heads": heads}
    batch, length = g.size("input_ids", 0), g.size("input_ids", 1)
    past = g.size("past_key_values.0.key", 2)
    place = g.put("Range", [past, g.put("Add", [past, length]), g.const(np.int64(1))])
    place = g.put("Unsqueeze", [place, g.ints(0)])
    x = g.put("Add", [g.put("Gather", [g.weight(vocabulary, width), "input_ids"], axis=0),
                      g.put("Gather", [g.weight(positions, width), place], axis=0)])
    bias = mask_of(g, batch) if mask else None
    causal = g.const(np.tril(np.ones((positions, positions), bool))[None, None])
    for layer in range(layers):
        x = g.put("Add", [x, attention(g, norm(g, x, width), layer, shape, batch, length, causal,
                                       bias)])
        inner = gelu(g, linear(g, norm(g, x, width), width, 4 * width, batch, length))
        x = g.put("Add", [x, linear(g, inner, 4 * width, width, batch, length)])
    x = norm(g, x, width)
    if last_only:
        x = g.put("Slice", [x, g.ints(-1), g.ints(2**63 - 1), g.ints(1)])
    if bits == 4:
        g.put("Identity", [coded(g, x, width, vocabulary)], name="logits")
    else:
        g.put("MatMul", [x, g.weight(width, vocabulary)], name="logits")
    return finish(g, layers, width, heads, vocabulary, mask)


def finish(g, layers, width, heads, vocabulary, mask):
    cache = ["batch_size", heads, "past_sequence_length", width // heads]
    grown = cache[:2] + ["past_sequence_length + sequence_length"] + cache[3:]
    inputs = [helper.make_tensor_value_info("input_ids", I64, ["batch_size", "sequence_length"])]
    if mask:
        inputs.append(helper.make_tensor_value_info(
            "attention_mask", I64, ["batch_size", "past_sequence_length + sequence_length"]))
    outputs = [helper.make_tensor_value_info("logits", F32, ["batch_size", None, vocabulary])]
    for layer in range(layers):
        for kind in ("key", "value"):
            inputs.append(helper.make_tensor_value_info(f"past_key_values.{layer}.{kind}", F32, cache))
            outputs.append(helper.make_tensor_value_info(f"present.{layer}.{kind}", F32, grown))
    graph = helper.make_graph(g.nodes, "decoder", inputs, outputs, g.constants)
    opsets = [helper.make_opsetid("", 18)]
    if g.bits == 4:
        opsets.append(helper.make_opsetid("com.microsoft", 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)
