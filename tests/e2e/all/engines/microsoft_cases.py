"""The one-node models of microsoft_ops.py: a function per operator, answered by name.

Each gets a Maker, which draws from a generator seeded by the operator's name and a number, and that
number's place in the row, by which attributes and optional inputs are varied.
"""
import math
import zlib

import numpy as np

MICROSOFT = "com.microsoft"
MAKERS = {}


def maker(name):
    def keep(function):
        MAKERS[name] = function
        return function
    return keep


def all_makers():
    import microsoft_attention_cases  # noqa: F401  makers register themselves
    import microsoft_expert_cases  # noqa: F401
    import microsoft_quantized_cases  # noqa: F401
    import microsoft_state_cases  # noqa: F401
    return sorted(MAKERS.items())


class Case:
    def __init__(self, op):
        self.op, self.domain, self.opset = op, MICROSOFT, None
        self.inputs, self.outputs, self.attrs = [], [], {}  # (name, array or None, constant)
        self.answer, self.bound, self.quantized, self.fixed = None, None, False, False
        self.shared = {}  # outputs that ONNX Runtime wants in the memory of an input

    def label(self):
        shapes = " ".join("-" if a is None else f"{n}{list(a.shape)}" for n, a, _ in self.inputs)
        return f"{shapes} {self.attrs}"


class Maker:
    def __init__(self, op, seed):
        self.r = np.random.default_rng([seed, zlib.crc32(op.encode())])
        self.case = Case(op)

    # ---- numbers ----
    def size(self, low, high):
        return int(self.r.integers(low, high + 1))

    def floats(self, *shape, scale=1.0):
        return self.r.uniform(-scale, scale, shape).astype(np.float32)

    def positive(self, *shape, low=0.01, high=0.1):
        return self.r.uniform(low, high, shape).astype(np.float32)

    def codes(self, dtype, *shape):
        info = np.iinfo(dtype)
        return self.r.integers(info.min, info.max + 1, shape).astype(dtype)

    def whole(self, dtype, low, high, *shape):
        return self.r.integers(low, high + 1, shape).astype(dtype)

    # ---- the node ----
    def give(self, name, array, constant=False):
        self.case.inputs.append((name, array, constant))
        return array

    def weight(self, name, array):
        """A constant half the time, as exporters write weights."""
        return self.give(name, array, bool(self.r.integers(0, 2)))

    def absent(self, name="absent"):
        self.case.inputs.append((name, None, False))

    def maybe(self, name, array, there):
        self.give(name, array if there else None, there and bool(self.r.integers(0, 2)))

    def out(self, *names, dtype=np.float32):
        self.case.outputs += [(n, dtype) for n in names]

    def done(self, **attrs):
        self.case.attrs = attrs
        return self.case


def erf(x):
    return np.vectorize(math.erf)(x)


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# ---- activations -------------------------------------------------------------------------------

@maker("Gelu")
def make_gelu(m, i):
    m.give("X", m.floats(*[m.size(1, 5) for _ in range(i % 4 + 1)], scale=4))
    m.out("Y")
    return m.done()


@maker("FastGelu")
def make_fast_gelu(m, i):
    hidden = m.size(1, 20)
    m.give("X", m.floats(m.size(1, 3), m.size(1, 5), hidden, scale=3))
    m.maybe("bias", m.floats(hidden), i % 3 != 0)
    m.out("Y")
    return m.done()


@maker("BiasGelu")
def make_bias_gelu(m, i):
    hidden = m.size(1, 20)
    m.give("A", m.floats(m.size(1, 3), m.size(1, 5), hidden, scale=3))
    m.weight("B", m.floats(hidden))
    m.out("C")
    return m.done()


@maker("QuickGelu")
def make_quick_gelu(m, i):
    m.give("X", m.floats(m.size(1, 4), m.size(1, 30), scale=4))
    m.out("Y")
    return m.done(**({} if i % 2 else {"alpha": float(m.r.uniform(0.5, 2))}))


@maker("BiasSplitGelu")
def make_bias_split_gelu(m, i):
    half = m.size(1, 10)
    x = m.give("X", m.floats(m.size(1, 2), m.size(1, 5), 2 * half, scale=2))
    bias = m.weight("bias", m.floats(2 * half))
    m.out("Y")
    y = (x + bias).astype(np.float64)
    m.case.answer = [(y[..., :half] * gelu(y[..., half:])).astype(np.float32)]
    return m.done()


@maker("BiasAdd")
def make_bias_add(m, i):
    n, s, c = m.size(1, 3), m.size(1, 6), m.size(1, 9)
    total = m.give("X", m.floats(n, s, c)) + m.weight("bias", m.floats(c))
    m.case.answer = [total + m.give("skip", m.floats(n, s, c))]
    m.out("Y")
    return m.done()


# ---- normalisations ----------------------------------------------------------------------------

@maker("SkipLayerNormalization")
def make_skip_layer_normalization(m, i):
    b, s, h = m.size(1, 3), m.size(1, 5), m.size(2, 24)
    m.give("input", m.floats(b, s, h))
    m.give("skip", m.floats(*[(b, s, h), (1, s, h), (s, h)][i % 3]))
    m.weight("gamma", m.floats(h))
    m.maybe("beta", m.floats(h), i % 4 != 1)
    m.maybe("bias", m.floats(h), i % 2 == 1)
    m.out("output")
    if i % 3 == 2:
        m.out("", "", "input_skip_bias_sum")
    return m.done(epsilon=[1e-12, 1e-5, 0.1][i % 3])


@maker("SkipSimplifiedLayerNormalization")
def make_skip_simplified(m, i):
    shape = (m.size(1, 3), m.size(1, 5), m.size(2, 24))[i % 2:]
    m.give("input", m.floats(*shape))
    m.give("skip", m.floats(*shape))
    m.weight("gamma", m.floats(shape[-1]))
    m.maybe("bias", m.floats(shape[-1]), i % 3 == 1)
    m.out("output")
    if i % 3 != 0:
        m.out("", "", "input_skip_bias_sum")
    return m.done(epsilon=[1e-6, 1e-5][i % 2])


@maker("SimplifiedLayerNormalization")
def make_simplified(m, i):
    m.case.domain = ""
    shape = [m.size(1, 4) for _ in range(i % 3 + 1)] + [m.size(2, 24)]
    m.give("X", m.floats(*shape))
    m.weight("scale", m.floats(shape[-1]))
    m.out("Y")
    return m.done(axis=-1, epsilon=[1e-6, 1e-3][i % 2], stash_type=1)


@maker("EmbedLayerNormalization")
def make_embed(m, i):
    b, s, h = m.size(1, 3), m.size(1, 6), m.size(2, 16)
    segments, mask, places = i % 2 == 0, i % 3 != 0, i % 3 == 2
    m.give("input_ids", m.whole(np.int32, 0, 29, b, s))
    m.maybe("segment_ids", m.whole(np.int32, 0, 1, b, s), segments)
    # ONNX Runtime wants to know the shapes.
    m.give("word", m.floats(30, h), True)
    m.give("position", m.floats(20, h), True)
    m.give("segment", m.floats(2, h) if segments else None, segments)
    m.give("gamma", m.floats(h), True)
    m.give("beta", m.floats(h), True)
    m.maybe("mask", m.whole(np.int32, 0, 1, b, s), mask)
    m.maybe("position_ids", m.whole(np.int32, 0, 19, [1, b][i % 2], s), places)
    m.out("output")
    m.out("mask_index", dtype=np.int32)
    if i % 2 == 1:
        m.out("embedding_sum")
    return m.done(epsilon=[1e-12, 1e-5][i % 2])


@maker("GroupNorm")
def make_group_norm(m, i):
    groups, last, silu = m.size(1, 3), i % 2 == 0, i % 3 == 0
    n, c, h, w = m.size(1, 2), groups * m.size(1, 4), m.size(1, 5), m.size(2, 5)
    x = m.floats(n, c, h, w)
    m.give("X", np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if last else x)
    gamma, beta = m.weight("gamma", m.floats(c)), m.weight("beta", m.floats(c))
    rows = x.astype(np.float64).reshape(n, groups, -1)
    rows = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-3)
    y = rows.reshape(n, c, h, w) * gamma.reshape(-1, 1, 1) + beta.reshape(-1, 1, 1)
    y = y * sigmoid(y) if silu else y
    m.case.answer = [(y.transpose(0, 2, 3, 1) if last else y).astype(np.float32)]
    m.out("Y")
    extra = {} if last and i % 4 == 0 else {"channels_last": int(last)}
    return m.done(groups=groups, activation=int(silu), epsilon=1e-3, **extra)


# ---- products ----------------------------------------------------------------------------------

@maker("FusedMatMul")
def make_fused_mat_mul(m, i):
    flags = {"transA": i & 1, "transB": i >> 1 & 1}
    rows, inner, columns = m.size(1, 6), m.size(1, 9), m.size(1, 6)
    batch = [m.size(1, 3) for _ in range(i % 3)]
    if i % 3 and i >= 3:
        flags |= {"transBatchA": i & 1, "transBatchB": 1 - (i & 1)}

    def operand(shape, turned, moved):
        shape = batch + (shape[::-1] if turned else shape)
        # Axis 0 goes behind the batch axes, so it comes from there.
        return m.floats(*([shape[-2], *shape[:-2], shape[-1]] if moved else shape))

    m.give("A", operand([rows, inner], flags["transA"], flags.get("transBatchA", 0)))
    m.give("B", operand([inner, columns], flags["transB"], flags.get("transBatchB", 0)))
    m.out("Y")
    return m.done(alpha=[1.0, 0.125, -2.5][i % 3], **flags)


ACTIVATIONS = [("Relu", []), ("Tanh", []), ("LeakyRelu", [0.3]), ("Sigmoid", []),
               ("HardSigmoid", [0.3, 0.4]), ("Clip", [-0.5, 0.75]), ("", [])]


@maker("FusedConv")
def make_fused_conv(m, i):
    group = 1 + i % 2
    n, c, filters = m.size(1, 2), m.size(1, 3) * group, m.size(1, 3) * group
    m.give("X", m.floats(n, c, m.size(3, 8), m.size(3, 8)))
    m.weight("W", m.floats(filters, c // group, 3, 3))
    m.maybe("B", m.floats(filters), i % 3 != 2)
    name, params = ACTIVATIONS[i % 6]
    if i % 3 == 0:
        x = m.case.inputs[0][1].shape
        m.give("Z", m.floats(n, filters, x[2], x[3]))
    m.out("Y")
    extra = {"activation_params": params} if params else {}
    return m.done(group=group, pads=[1, 1, 1, 1], activation=name, kernel_shape=[3, 3], **extra)


@maker("FusedGemm")
def make_fused_gemm(m, i):
    rows, inner, columns = m.size(1, 6), m.size(1, 9), m.size(1, 6)
    flags = {"transA": i & 1, "transB": i >> 1 & 1}
    m.give("A", m.floats(*((inner, rows) if flags["transA"] else (rows, inner))))
    m.weight("B", m.floats(*((columns, inner) if flags["transB"] else (inner, columns))))
    m.maybe("C", m.floats(columns), i % 3 != 1)
    m.out("Y")
    name, params = [("Relu", []), ("Tanh", []), ("LeakyRelu", [0.3]), ("Sigmoid", []),
                    ("Elu", [0.7]), ("HardSigmoid", [0.3, 0.4])][i % 6]
    extra = dict(zip(("activation_alpha", "activation_beta"), params))
    return m.done(alpha=[1.0, 0.5][i % 2], beta=[1.0, 2.0][i % 2], activation=name, **flags, **extra)


# ---- attention ---------------------------------------------------------------------------------

def right_padded(m, batch, total):
    return m.whole(np.int32, 1, total, batch)


def left_padded(m, batch, total):
    begin = m.whole(np.int32, 0, max(0, total - 2), batch)
    end = np.minimum(total, begin + m.whole(np.int32, 1, total, batch)).astype(np.int32)
    return np.concatenate([end, begin])


def kinds_of_mask(m, batch, steps, total, kind):
    """None, [B], [2B], [B,T] or [B,S,T]; each query sees its first key at least."""
    if kind == 0:
        return None
    if kind in (1, 2):
        return (right_padded, left_padded)[kind - 1](m, batch, total)
    mask = m.whole(np.int32, 0, 1, *((batch, total) if kind == 3 else (batch, steps, total)))
    mask[..., 0] = 1
    return mask


@maker("Attention")
def make_attention(m, i):
    heads, size, b, s = m.size(1, 3), m.size(1, 6), m.size(1, 3), m.size(1, 6)
    past = m.size(1, 4) if i % 3 == 2 else 0
    h = heads * size
    v = h if past or i % 2 else heads * m.size(1, 5)
    m.give("input", m.floats(b, s, m.size(2, 12)))
    m.weight("weights", m.floats(m.case.inputs[0][1].shape[2], 2 * h + v))
    m.weight("bias", m.floats(2 * h + v))  # without it ONNX Runtime 1.31 dies of a signal
    m.give("mask_index", kinds_of_mask(m, b, s, past + s, i % 5))
    m.give("past", m.floats(2, b, heads, past, size) if past else None)
    bias = m.floats([1, b][i % 2], [1, heads][i % 2], s, past + s)
    m.maybe("attention_bias", bias, i % 4 == 1 and not past)
    m.out("output")
    if past:
        m.out("present")
    extra = {"scale": 0.3} if i % 4 == 2 else {}
    if v != h:
        extra["qkv_hidden_sizes"] = [h, h, v]
    return m.done(num_heads=heads, unidirectional=i >> 1 & 1, **extra)


@maker("MultiHeadAttention")
def make_multi_head_attention(m, i):
    heads, size, b, s = m.size(1, 3), m.size(1, 6), m.size(1, 3), m.size(1, 5)
    v_size, keys = m.size(1, 5), s if i % 2 else m.size(1, 6)
    past = m.size(1, 4) if i % 4 == 3 else 0
    split = i % 6 == 4
    v_size = size if past or split else v_size
    m.give("query", m.floats(b, s, heads * size))
    for name, each in (("key", size), ("value", v_size)):
        m.give(name, m.floats(*((b, heads, keys, each) if split else (b, keys, heads * each))))
    m.maybe("bias", m.floats(heads * (2 * size + v_size)), i % 3 == 1 and not split)
    mask = kinds_of_mask(m, b, s, past + keys, [0, 3, 1, 3, 0, 4][i % 6])
    m.give("key_padding_mask", mask)
    m.maybe("attention_bias", m.floats(1, [1, heads][i % 2], s, past + keys), i % 3 == 0)
    for name, each in (("past_key", size), ("past_value", v_size)):
        m.give(name, m.floats(b, heads, past, each) if past else None)
    m.out("output")
    if past:
        m.out("present_key", "present_value")
    elif i % 3 != 1:
        m.out("", "", "qk")
    extra = {"scale": 0.4} if i % 2 else {}
    # Of more keys than queries ONNX Runtime 1.31 lets the last query see all of them.
    return m.done(num_heads=heads, unidirectional=int(i % 5 == 1 and keys <= s), **extra)


@maker("MultiHeadAttention packed")
def make_packed_attention(m, i):
    """ONNX Runtime's CPU takes no packed inputs: the answer is worked out here."""
    m.case.op = "MultiHeadAttention"
    heads, size, b, s = m.size(1, 3), m.size(1, 6), m.size(1, 3), m.size(1, 5)
    keys = m.size(1, 6) if i % 2 else s
    if i % 2:
        q = m.give("query", m.floats(b, s, heads * size)).reshape(b, s, heads, size)
        both = m.give("key", m.floats(b, keys, heads, 2, size))
        k, v = both[:, :, :, 0], both[:, :, :, 1]
    else:
        whole = m.give("query", m.floats(b, s, heads, 3, size))
        q, k, v = (whole[:, :, :, j] for j in range(3))
    q, k, v = (x.transpose(0, 2, 1, 3).astype(np.float64) for x in (q, k, v))
    scores = q @ k.swapaxes(2, 3) / math.sqrt(size)
    shares = np.exp(scores - scores.max(3, keepdims=True))
    y = shares / shares.sum(3, keepdims=True) @ v
    m.case.answer = [y.transpose(0, 2, 1, 3).reshape(b, s, -1).astype(np.float32)]
    m.out("output")
    return m.done(num_heads=heads)


@maker("RotaryEmbedding")
def make_rotary_embedding(m, i):
    heads, half, b, s, places = m.size(1, 3), m.size(1, 4), m.size(1, 3), m.size(1, 5), 12
    part = i % 4 == 3
    size = 2 * half + (2 if part else 0)
    shape = (b, heads, s, size) if i % 3 == 2 else (b, s, heads * size)
    m.give("input", m.floats(*shape))
    ids = m.whole(np.int64, 0, places - s, 1) if i % 2 else m.whole(np.int64, 0, places - 1, b, s)
    m.give("position_ids", ids)
    angles = m.floats(places, half, scale=3)
    m.weight("cos_cache", np.cos(angles))
    m.weight("sin_cache", np.sin(angles))
    m.out("output")
    extra = {"rotary_embedding_dim": 2 * half, "num_heads": heads} if part else {}
    return m.done(interleaved=i >> 1 & 1, **extra)


@maker("GroupQueryAttention")
def make_group_query_attention(m, i):
    kv, size = m.size(1, 2), 16 * m.size(1, 2)  # ONNX Runtime takes no other
    heads, first = kv * m.size(1, 3), i % 2 == 0
    b, s = (m.size(1, 3), m.size(1, 6)) if first else (m.size(1, 3), 1)
    past = 0 if first else m.size(1, 5)
    packed, turned = i % 3 == 2, i % 3 != 0
    width = (heads + 2 * kv if packed else heads) * size
    m.give("query", m.floats(b, s, width))
    for name in ("key", "value"):
        m.give(name, None if packed else m.floats(b, s, kv * size))
    for name in ("past_key", "past_value"):
        m.give(name, m.floats(b, kv, past, size))
    m.give("seqlens_k", np.full(b, past + s - 1, np.int32))
    m.give("total_sequence_length", np.array(past + s, np.int32), True)
    angles = m.floats(16, size // 2, scale=3)
    m.maybe("cos_cache", np.cos(angles), turned)
    m.maybe("sin_cache", np.sin(angles), turned)
    m.out("output", "present_key", "present_value")
    extra = {"do_rotary": 1, "rotary_interleaved": i & 1} if turned else {}
    if i % 3 == 1:
        extra |= {"local_window_size": 2, "softcap": 1.5}
    return m.done(num_heads=heads, kv_num_heads=kv, **extra)


# ---- movers ------------------------------------------------------------------------------------

@maker("Trilu")
def make_trilu(m, i):
    m.give("X", m.floats(*[m.size(1, 3) for _ in range(i % 3)], m.size(1, 5), m.size(1, 5)))
    m.maybe("k", np.array(m.size(-2, 2), np.int64), i % 3 != 0)
    m.out("Y")
    return m.done(upper=i & 1)


@maker("GatherND")
def make_gather_nd(m, i):
    shape = [m.size(2, 4) for _ in range(3)]
    m.give("data", m.floats(*shape))
    m.give("indices", m.whole([np.int32, np.int64][i % 2], 0, 1, m.size(1, 4), 1 + i % 3))
    m.out("output")
    return m.done()


@maker("ExpandDims")
def make_expand_dims(m, i):
    rank = i % 3 + 1
    m.give("X", m.floats(*[m.size(1, 4) for _ in range(rank)]))
    m.give("axis", np.array(m.size(-rank - 1, rank), np.int32), True)
    m.out("Y")
    return m.done()


@maker("Pad")
def make_pad(m, i):
    mode = ["constant", "reflect", "edge"][i % 3]
    m.give("data", m.floats(m.size(3, 5), m.size(3, 5)))
    m.give("pads", m.whole(np.int64, 0, 2, 4), True)
    m.maybe("value", np.array([1.5], np.float32), i == 3)
    m.out("output")
    return m.done(mode=mode)


@maker("Range")
def make_range(m, i):
    dtype = [np.int64, np.int32, np.float32][i % 3]
    start = m.size(-3, 3)
    m.give("start", np.array(start, dtype), True)
    m.give("limit", np.array(start + m.size(0, 9), dtype), True)
    if i < 3:
        m.give("delta", np.array(m.size(1, 3), dtype), True)
    m.out("Y", dtype=dtype)
    return m.done()


@maker("Inverse")
def make_inverse(m, i):
    n = m.size(1, 6)
    m.give("X", m.floats(*[m.size(1, 3) for _ in range(i % 3)], n, n) + 4 * np.eye(n, dtype="f4"))
    m.out("Y")
    return m.done()


@maker("Unique")
def make_unique(m, i):
    m.give("x", m.whole(np.int64, 0, 5, m.size(1, 12)).astype(np.float32))
    m.out("y")
    m.out("idx", "counts", dtype=np.int64)
    return m.done()


@maker("Attention image mask")
def make_image_mask_attention(m, i):
    """A mask of rank 4, which ONNX Runtime's CPU does not take: the answer is worked out here."""
    m.case.op = "Attention"
    heads, size, b, s, inner = m.size(1, 3), m.size(1, 6), m.size(1, 3), m.size(1, 5), m.size(2, 9)
    past, h = (m.size(1, 3) if i % 2 else 0), heads * size
    total = past + s
    most = total + m.size(0, 3)
    x, w = m.give("input", m.floats(b, s, inner)), m.weight("weights", m.floats(inner, 3 * h))
    bias = m.weight("bias", m.floats(3 * h))
    mask = m.whole(np.int32, 0, 1, b, 1, most, most)
    mask[..., 0] = 1
    m.give("mask_index", mask)
    old = m.give("past", m.floats(2, b, heads, past, size) if past else None)
    q, k, v = (a.reshape(b, s, heads, size).transpose(0, 2, 1, 3)
               for a in np.split(x @ w + bias, 3, axis=2))
    if past:
        k, v = np.concatenate([old[0], k], 2), np.concatenate([old[1], v], 2)
    scores = q.astype(np.float64) @ k.swapaxes(2, 3) / math.sqrt(size)
    scores += np.where(mask[:, :, past:total, :total] > 0, 0, -10000.0)
    shares = np.exp(scores - scores.max(3, keepdims=True))
    y = shares / shares.sum(3, keepdims=True) @ v
    m.case.answer = [y.transpose(0, 2, 1, 3).reshape(b, s, h).astype(np.float32)]
    m.out("output")
    return m.done(num_heads=heads)
