"""The quantized operators among microsoft_cases.py's, and those with packed or integer weights."""
import numpy as np

from microsoft_cases import left_padded, maker, right_padded

U8, S8 = np.uint8, np.int8


def either(i):
    return [U8, S8][i % 2]


def scalar(v):
    return np.array(v, np.float32)


def give_scale(m, name, low=0.01, high=0.1):
    return m.weight(name, scalar(m.r.uniform(low, high)))


def give_zero(m, name, dtype):
    """Near the middle, so that few results saturate. ONNX Runtime 1.31 dies where it is absent."""
    m.weight(name, np.array((128 if dtype == U8 else 0) + m.size(-20, 20), dtype))


def shape_of(m, rank):
    return [m.size(1, 6) for _ in range(rank)]


# ---- elementwise -------------------------------------------------------------------------------

def pair(m, i, low, high):
    dtype = either(i)
    m.case.quantized = True
    shape = shape_of(m, i % 3 + 1)
    other = [1 if m.size(0, 2) == 0 else d for d in shape][m.size(0, 1) if len(shape) > 1 else 0:]
    for name, dims in (("A", shape), ("B", other)):
        m.give(name, m.codes(dtype, *dims))
        give_scale(m, f"{name}_scale")
        give_zero(m, f"{name}_zero_point", dtype)
    give_scale(m, "C_scale", low, high)
    give_zero(m, "C_zero_point", dtype)
    m.out("C", dtype=dtype)
    return m.done()


@maker("QLinearAdd")
def make_q_linear_add(m, i):
    return pair(m, i, 0.05, 0.2)


@maker("QLinearMul")
def make_q_linear_mul(m, i):
    return pair(m, i, 0.2, 0.9)


def mapped(m, i, shape, low, high, **attrs):
    dtype = either(i)
    m.case.quantized = True
    m.give("X", m.codes(dtype, *shape))
    give_scale(m, "x_scale")
    give_zero(m, "x_zero_point", dtype)
    give_scale(m, "y_scale", low, high)
    give_zero(m, "y_zero_point", dtype)
    m.out("Y", dtype=dtype)
    return m.done(**attrs)


@maker("QLinearSigmoid")
def make_q_linear_sigmoid(m, i):
    return mapped(m, i, shape_of(m, i % 3 + 1), 0.004, 0.01)


@maker("QLinearLeakyRelu")
def make_q_linear_leaky_relu(m, i):
    return mapped(m, i, shape_of(m, i % 3 + 1), 0.02, 0.1,
                  **({"alpha": 0.25} if i % 2 else {}))


@maker("QLinearSoftmax")
def make_q_linear_softmax(m, i):
    opset, rank = [13, 11][i // 2 % 2], i % 3 + 1
    # Scales by which 1 fits: where it does not ONNX Runtime 1.31 wraps around.
    return mapped(m, i, shape_of(m, rank), 0.01, 0.02, axis=m.size(-rank, rank - 1), opset=opset)


@maker("QLinearAveragePool")
def make_q_linear_average_pool(m, i):
    last = i % 3 == 2
    n, c, h, w = m.size(1, 2), m.size(1, 5), m.size(4, 8), m.size(4, 8)
    extra = {"channels_last": 1} if last else {}
    if i % 2:
        extra |= {"pads": [1, 0, 1, 1], "count_include_pad": i // 2 % 2}
    return mapped(m, i, (n, h, w, c) if last else (n, c, h, w), 0.02, 0.1,
                  kernel_shape=[m.size(2, 3), 2], strides=[m.size(1, 2), m.size(1, 2)], **extra)


@maker("NhwcMaxPool")
def make_nhwc_max_pool(m, i):
    axes = i % 3 + 1
    m.give("x", m.codes(either(i), m.size(1, 2), *[m.size(4, 7) for _ in range(axes)], m.size(1, 5)))
    m.out("y", dtype=either(i))
    extra = [{}, {"pads": [1] * axes + [0] * axes, "ceil_mode": 1}, {"auto_pad": "SAME_LOWER"},
             {"dilations": [2] * axes}][i % 4]
    return m.done(kernel_shape=[2] * axes, strides=[1 + i % 2] * axes, **extra)


@maker("QLinearConv")
def make_q_linear_conv(m, i):
    group, last = 1 + i % 2, i % 3 != 0
    filters, channels, kernel = 2 * m.size(1, 4), m.size(1, 4), [m.size(1, 3), m.size(1, 3)]
    image = (m.size(4, 7), m.size(4, 7))
    shape = (*image, channels * group) if last else (channels * group, *image)
    dtype = either(i)
    weight = S8 if dtype == S8 else either(i // 2)  # ONNX Runtime takes no other pairs
    m.give("x", m.codes(dtype, m.size(1, 2), *shape))
    give_scale(m, "x_scale")
    m.give("x_zero_point", m.codes(dtype))
    m.weight("w", m.codes(weight, filters, channels, *kernel))
    each = (filters,) if i % 4 > 1 else ()
    m.give("w_scale", m.positive(*each), True)
    # ONNX Runtime wants 0 where signed weights have a scale a filter.
    zero = m.codes(weight) if weight == U8 or not each else np.zeros((), weight)
    m.give("w_zero_point", np.full(each, zero, weight), True)
    give_scale(m, "y_scale", 0.5, 2.0)
    m.give("y_zero_point", m.codes(dtype))
    m.maybe("B", m.whole(np.int32, -2000, 2000, filters), i % 2 == 1)
    m.out("y", dtype=dtype)
    m.case.quantized = True
    extra = {"pads": [1, 0, 0, 1]} if i % 2 else {"auto_pad": "SAME_UPPER"}
    return m.done(channels_last=int(last), group=group, kernel_shape=kernel,
                  strides=[1 + i // 3 % 2] * 2, **extra)


@maker("QLinearGlobalAveragePool")
def make_q_linear_global_average_pool(m, i):
    last = i % 3 == 2
    n, c, h, w = m.size(1, 2), m.size(1, 5), m.size(1, 8), m.size(1, 8)
    return mapped(m, i, (n, h, w, c) if last else (n, c, h, w), 0.02, 0.1, channels_last=int(last))


@maker("QLinearConcat")
def make_q_linear_concat(m, i):
    dtype, rank = either(i), i % 3 + 1
    m.case.quantized = True
    shape, axis = shape_of(m, rank), m.size(0, rank - 1)
    give_scale(m, "Y_scale", 0.02, 0.1)
    give_zero(m, "Y_zero_point", dtype)
    for k in range(m.size(1, 3)):
        shape[axis] = m.size(1, 5)
        m.give(f"x{k}", m.codes(dtype, *shape))
        give_scale(m, f"scale{k}")
        give_zero(m, f"zero{k}", dtype)
    m.out("Y", dtype=dtype)
    return m.done(axis=axis)


@maker("QLinearWhere")
def make_q_linear_where(m, i):
    dtype, shape = either(i), shape_of(m, i % 3 + 1)
    m.case.quantized = True
    m.give("condition", m.whole(np.int64, 0, 1, *shape).astype(bool))
    for name, dims in (("x", shape), ("y", shape[-1:])):
        m.give(name.upper(), m.codes(dtype, *dims))
        m.give(f"{name}_scale", scalar(m.r.uniform(0.01, 0.1)), True)
        m.give(f"{name}_zero_point", np.array([128, 3][dtype == S8], dtype), True)
    m.give("z_scale", scalar(m.r.uniform(0.02, 0.1)), True)
    m.give("z_zero_point", np.array([120, -4][dtype == S8], dtype), True)
    m.out("Z", dtype=dtype)
    return m.done()


@maker("QuantizeLinear")
def make_quantize_linear(m, i):
    dtype = [U8, S8, np.uint16, np.int16][i % 4]
    shape = shape_of(m, 3)
    axis = m.size(0, 2) if i % 2 else None
    m.case.quantized = True
    m.give("x", m.floats(*shape, scale=4))
    m.give("y_scale", m.positive(*([] if axis is None else [shape[axis]])), True)
    m.give("y_zero_point", m.whole(dtype, 0, 100, *([] if axis is None else [shape[axis]])), True)
    m.out("y", dtype=dtype)
    return m.done(**({} if axis is None else {"axis": axis}))


@maker("DequantizeLinear")
def make_dequantize_linear(m, i):
    dtype = [U8, S8, np.uint16, np.int16][i % 4]
    shape = shape_of(m, 3)
    axis = m.size(0, 2) if i % 2 else None
    m.give("x", m.codes(dtype, *shape))
    m.give("x_scale", m.positive(*([] if axis is None else [shape[axis]])), True)
    m.give("x_zero_point", m.whole(dtype, 0, 100, *([] if axis is None else [shape[axis]])), True)
    m.out("y")
    return m.done(**({} if axis is None else {"axis": axis}))


# ---- products ----------------------------------------------------------------------------------

def product(m):
    """Sizes of a batch, rows, inner and columns."""
    return [m.size(1, 3) for _ in range(m.size(0, 1))], m.size(1, 6), m.size(1, 20), m.size(1, 9)


@maker("DynamicQuantizeMatMul")
def make_dynamic_quantize_mat_mul(m, i):
    batch, rows, inner, columns = product(m)
    dtype, lines = either(i), [columns] if i % 3 == 1 else []
    m.give("A", m.floats(*batch, rows, inner, scale=3))
    # 7 bits: some of ONNX Runtime's kernels add pairs of products in 16 bits.
    m.give("B", m.whole(dtype, 0 if dtype == U8 else -63, 63, inner, columns), True)
    m.give("b_scale", m.positive(*lines), True)
    m.give("b_zero_point", m.whole(dtype, 0, 20, *lines) if i % 4 != 3 else None, True)
    m.maybe("bias", m.floats(columns), i % 2 == 0)
    m.out("Y")
    return m.done()


@maker("MatMulIntegerToFloat")
def make_mat_mul_integer_to_float(m, i):
    batch, rows, inner, columns = product(m)
    # ONNX Runtime has no product of signed with unsigned codes.
    left, right = [(U8, U8), (U8, S8), (S8, S8)][i % 3]
    lines = [columns] if i % 4 == 1 else []
    m.give("A", m.whole(left, 0 if left == U8 else -63, 63, *batch, rows, inner))
    m.give("B", m.whole(right, 0 if right == U8 else -63, 63, inner, columns), True)
    m.give("a_scale", scalar(m.r.uniform(0.01, 0.1)), True)
    m.give("b_scale", m.positive(*lines), True)
    m.give("a_zero_point", np.array(m.size(0, 30), left) if i % 4 != 3 else None, True)
    m.give("b_zero_point", m.whole(right, 0, 20, *lines) if i % 4 != 2 else None, True)
    m.maybe("bias", m.floats(columns), i % 2 == 0)
    m.out("Y")
    return m.done()


@maker("QGemm")
def make_q_gemm(m, i):
    _, rows, inner, columns = product(m)
    # ONNX Runtime has no product of signed with unsigned codes.
    left, right = [(U8, U8), (U8, S8), (S8, S8)][i % 3]
    lines = [columns] if i % 4 == 1 else []
    flags = {"transA": i & 1, "transB": i >> 1 & 1}
    codes = {t: (0 if t == U8 else -63, 63) for t in (U8, S8)}
    m.give("A", m.whole(left, *codes[left], *((inner, rows) if i & 1 else (rows, inner))))
    m.give("a_scale", scalar(m.r.uniform(0.01, 0.1)), True)
    m.give("a_zero_point", np.array(m.size(0, 30), left), True)
    m.give("B", m.whole(right, *codes[right], *((columns, inner) if i & 2 else (inner, columns))),
           True)
    m.give("b_scale", m.positive(*lines), True)
    m.give("b_zero_point", m.whole(right, 0, 20, *lines), True)
    m.maybe("C", m.whole(np.int32, -500, 500, columns), i % 3 != 2)
    quantized = i % 2 == 0
    m.give("y_scale", scalar(m.r.uniform(0.1, 0.5)) if quantized else None, True)
    m.give("y_zero_point", np.array(60, left) if quantized else None, True)
    m.case.quantized = quantized
    m.out("Y", dtype=left if quantized else np.float32)
    return m.done(alpha=[1.0, 0.5][i // 3 % 2], **flags)


@maker("MatMulNBits")
def make_mat_mul_n_bits(m, i):
    bits, block = [4, 4, 8, 4, 8, 2][i % 6], [16, 32][i % 2]
    k, n = m.size(5, 80), m.size(1, 12)
    blocks = -(-k // block)
    m.give("A", m.floats(*[m.size(1, 3) for _ in range(i % 3)], m.size(1, 5), k))
    m.give("B", m.codes(U8, n, blocks, block * bits // 8), True)
    flat = i % 4 < 2
    m.give("scales", m.positive(*([n * blocks] if flat else [n, blocks])), True)
    width = -(-blocks * bits // 8)
    zeros = [None, m.codes(U8, *([n * width] if flat else [n, width])),
             m.floats(n, blocks, scale=8) if bits == 4 else None][(i + i // 3) % 3]
    m.give("zero_points", zeros, True)
    m.absent("g_idx")
    m.give("bias", m.floats(n) if i % 4 == 1 else None, True)
    m.out("Y")
    return m.done(K=k, N=n, bits=bits, block_size=block)


@maker("GatherBlockQuantized")
def make_gather_block_quantized(m, i):
    bits, block = [4, 8, 2][i % 3], [16, 32][i % 2]
    size, wide = m.size(3, 9), m.size(3, 40)
    rows = [size, m.size(1, 3)] if i % 4 == 3 else [size]
    blocks = -(-(wide * 8 // bits) // block)
    m.give("data", m.codes(U8, *rows, wide), True)
    indices = m.whole(np.int64 if i % 2 else np.int32, -size - 1, size,
                      *[m.size(1, 3) for _ in range(i % 3)])
    m.give("indices", indices)
    m.give("scales", m.positive(*rows, blocks), True)
    zeros = m.codes(U8, *rows, -(-blocks * bits // 8)) if i % 2 else None
    m.give("zero_points", zeros, True)
    m.out("output")
    return m.done(bits=bits, block_size=block, gather_axis=0, quantize_axis=-1)


@maker("QAttention")
def make_q_attention(m, i):
    heads, size, b, s = m.size(1, 3), m.size(1, 6), m.size(1, 3), m.size(1, 6)
    inner, h, past = m.size(2, 12), heads * size, m.size(1, 4) if i % 3 == 2 else 0
    dtype, lines = either(i), [3 * h] if i % 3 == 1 else []
    m.give("input", m.whole(U8, 0, 127, b, s, inner))
    m.give("weight", m.whole(dtype, 0 if dtype == U8 else -63, 63, inner, 3 * h), True)
    m.weight("bias", m.floats(3 * h))
    m.give("input_scale", scalar(m.r.uniform(0.005, 0.02)), True)
    m.give("weight_scale", m.positive(*lines, low=0.005, high=0.02), True)
    total = past + s
    masks = [None, right_padded(m, b, total), left_padded(m, b, total)]
    m.give("mask_index", masks[i % 3])
    m.give("input_zero_point", np.array(m.size(30, 90), U8), True)
    m.give("weight_zero_point", m.whole(dtype, 0, 20, *lines), True)
    m.give("past", m.floats(2, b, heads, past, size) if past else None)
    m.out("output")
    if past:
        m.out("present")
    return m.done(num_heads=heads, unidirectional=i >> 1 & 1)


@maker("DynamicQuantizeLSTM")
def make_dynamic_quantize_lstm(m, i):
    """ONNX Runtime also quantizes X and the hidden state, in 8 bits, which is what the bound is."""
    way = ["forward", "reverse", "bidirectional"][i % 3]
    dirs, s, b, inner, h = 1 + (i % 3 == 2), m.size(1, 5), m.size(1, 3), m.size(2, 8), m.size(2, 8)
    dtype, lines = either(i), [4 * h] if i % 2 else []
    m.give("X", m.floats(s, b, inner))
    m.give("W", m.whole(dtype, 0 if dtype == U8 else -63, 63, dirs, inner, 4 * h), True)
    m.give("R", m.whole(dtype, 0 if dtype == U8 else -63, 63, dirs, h, 4 * h), True)
    m.maybe("B", m.floats(dirs, 8 * h), i % 2 == 0)
    m.give("sequence_lens", m.whole(np.int32, 1, s, b) if i % 3 == 1 else None)
    m.give("initial_h", m.floats(dirs, b, h) if i % 4 == 2 else None)
    m.give("initial_c", m.floats(dirs, b, h) if i % 4 == 2 else None)
    m.absent("P")
    for name in ("W", "R"):
        m.give(f"{name}_scale", m.positive(dirs, *lines, low=0.002, high=0.01), True)
        zero = 31 if dtype == U8 else 0
        m.give(f"{name}_zero_point", np.full([dirs, *lines], zero, dtype), True)
    m.out("Y", "Y_h", "Y_c")
    m.case.bound = 3e-2
    return m.done(hidden_size=h, direction=way)
