"""The operators of sequence models with a state among microsoft_cases.py's, those of crops and
distances, and ONNX's experimental ones, which converters from Core ML write."""
import numpy as np

from microsoft_cases import maker, sigmoid


def softplus(x):
    return np.log1p(np.exp(x))


RULES = ["linear", "gated", "delta", "gated_delta"]


@maker("CDist")
def make_cdist(m, i):
    rows, others, columns = m.size(1, 9), m.size(1, 9), m.size(1, 20)
    if i % 6 == 5:  # more differences than are written out one by one
        rows, others, columns = 130, 220, 40
    m.give("A", m.floats(rows, columns))
    m.weight("B", m.floats(others, columns))
    m.out("C")
    return m.done(**({} if i % 3 == 2 else {"metric": ["euclidean", "sqeuclidean"][i % 2]}))


@maker("MatMulBnb4")
def make_mat_mul_bnb4(m, i):
    block = 16 << i % 5
    k, n = m.size(5, 80), m.size(1, 12)
    transposed = i % 3 != 2
    a = m.give("A", m.floats(*[m.size(1, 3) for _ in range(i % 3)], m.size(1, 5), k if transposed else n))
    codes = m.give("B", m.codes(np.uint8, -(-n * k // 2)), True)
    most = m.give("absmax", m.positive(-(-n * k // block), low=0.1, high=2), True)
    m.out("Y")
    attrs = dict(K=k, N=n, block_size=block, quant_type=i % 2)
    if transposed:
        return m.done(**attrs)
    # ONNX Runtime reads the weight as if it were transposed, against its documentation.
    places = np.stack([codes >> 4, codes & 15], 1).ravel()[:n * k]
    weight = (BNB4[i % 2][places] * np.repeat(most, block)[:n * k]).reshape(n, k)
    m.case.answer = [(a @ weight).astype(np.float32)]
    return m.done(transB=0, **attrs)


FP4 = np.array([0, 0.0625, 8, 12, 4, 6, 2, 3]) / 12
NF4 = np.array([
    -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1])
BNB4 = [np.concatenate([FP4, -FP4]), NF4]


@maker("MRotaryEmbedding")
def make_m_rotary(m, i):
    b, heads, s, half, places = m.size(1, 3), m.size(1, 3), m.size(1, 6), m.size(1, 12), 16
    part = 4 if i % 3 == 1 else 0
    size = 2 * half + part
    m.give("input", m.floats(*([b, heads, s, size] if i % 4 == 3 else [b, s, heads * size])))
    m.give("position_ids", m.whole(np.int64, 0, places - 1, 3, b, s))
    m.weight("cos_cache", m.floats(places, half))
    m.weight("sin_cache", m.floats(places, half))
    m.out("output")
    time = m.size(0, half)
    height = m.size(0, half - time)
    extra = {"rotary_embedding_dim": 2 * half} if part else {}
    return m.done(mrope_section=[time, height, half - time - height], num_heads=heads,
                  mrope_layout=i // 2 % 2, interleaved=i % 2, scale=[1.0, 0.5][i // 3 % 2], **extra)


@maker("GatedRMSNorm")
def make_gated_rms_norm(m, i):
    group = m.size(1, 12)
    shape = [m.size(1, 4) for _ in range(i % 3)] + [m.size(1, 3) * group]
    m.give("X", m.floats(*shape, scale=2))
    m.weight("scale", m.floats(group))
    m.give("gate", m.floats(*shape, scale=4))
    m.out("Y")
    extra = {} if i % 4 == 3 else {"activation": ["silu", "swish", "sigmoid"][i % 3]}
    return m.done(epsilon=[1e-5, 0.1][i % 2], **extra)


@maker("CausalConvWithState")
def make_causal_conv(m, i):
    b, c, length, taps, dilation = m.size(1, 3), m.size(1, 6), m.size(1, 8), m.size(1, 4), 1 + i % 2
    last = i % 3 == 2
    kept = (taps - 1) * dilation
    m.give("input", m.floats(*([b, length, c] if last else [b, c, length])))
    m.weight("weight", m.floats(c, 1, taps))
    m.maybe("bias", m.floats(c), i % 4 != 1)
    m.maybe("past_state", m.floats(*([b, kept, c] if last else [b, c, kept])), i % 2 == 0)
    m.out("output", "present_state")
    m.case.fixed = True  # ONNX Runtime wants to know the shapes
    return m.done(activation=["none", "silu", "swish"][i // 2 % 3], channels_last=int(last), dilation=dilation)


@maker("CausalConvWithState of a window")
def make_causal_conv_window(m, i):
    """ONNX Runtime's CPU kernel has no window: its answer without one, of each prefix."""
    m.case.op = "CausalConvWithState"
    b, c, length, taps, window = m.size(1, 3), m.size(1, 4), m.size(1, 6), m.size(1, 4), m.size(1, 8)
    x = m.give("input", m.floats(b, c, length))
    weight = m.give("weight", m.floats(c, 1, taps))
    m.absent("bias")
    past = m.give("past_state", m.floats(window, b, c, taps - 1))
    m.out("output", "present_state")
    rows = np.concatenate([past[-1], x], 2).astype(np.float64)
    y = sum(rows[:, :, k:k + length] * weight[:, 0, k, None] for k in range(taps))
    states = np.zeros((window, b, c, taps - 1))
    for j in range(max(0, window - length), window):
        end = length - window + j + 1
        states[j] = rows[:, :, end:end + taps - 1]
    m.case.answer = [y.astype(np.float32), states.astype(np.float32)]
    return m.done(state_window=window)


def linear(m, i, window):
    rule = RULES[i % 4]
    few = m.size(1, 3)
    many = few * m.size(1, 3)
    heads, kv = (few, many) if i % 3 == 1 else (many, few)
    b, t, size, v_size = m.size(1, 3), m.size(1, 6), m.size(1, 6), m.size(1, 6)
    keys = 1 if i % 5 == 4 else kv
    m.give("query", m.floats(b, t, heads * size))
    m.give("key", m.floats(b, t, keys * size))
    m.give("value", m.floats(b, t, kv * v_size))
    past = m.floats(b, kv, size, v_size)
    if window:
        past = np.concatenate([m.floats(window - 1, b, kv, size, v_size), past[None]])
    m.maybe("past_state", past, i % 2 == 0)
    m.maybe("decay", -m.positive(b, t, kv * size if i // 4 % 2 else kv, high=2), "gated" in rule)
    m.maybe("beta", m.positive(b, t, kv if i // 2 % 2 else 1, high=1), "delta" in rule)
    m.out("output", "present_state")
    scale = {"scale": 0.5} if i % 3 == 2 else {}
    return m.done(q_num_heads=heads, kv_num_heads=kv, update_rule=rule, **scale)


@maker("LinearAttention")
def make_linear_attention(m, i):
    return linear(m, i, 0)


@maker("LinearAttention of a window")
def make_linear_attention_window(m, i):
    """ONNX Runtime's CPU kernel has no window: the states by the formulas."""
    m.case.op = "LinearAttention"
    window = m.size(1, 8)
    case = linear(m, i, window)
    case.attrs["state_window"] = window
    given = {name: array for name, array, _ in case.inputs}
    q, k, v, past, decay, beta = (given[n] for n in ("query", "key", "value", "past_state", "decay", "beta"))
    heads, kv = case.attrs["q_num_heads"], case.attrs["kv_num_heads"]
    b, t, size, most = q.shape[0], q.shape[1], q.shape[2] // heads, max(heads, kv)
    keys, v_size = k.shape[2] // size, v.shape[2] // kv
    q, k, v = q.reshape(b, t, heads, size), k.reshape(b, t, keys, size), v.reshape(b, t, kv, v_size)
    q, k = q.repeat(most // heads, 2), k.repeat(kv // keys, 2)
    state = np.zeros((b, kv, size, v_size)) if past is None else past[-1].astype(np.float64)
    states, out = np.zeros((window, b, kv, size, v_size)), np.zeros((b, t, most, v_size))
    for j in range(t):
        if decay is not None:
            state = state * np.exp(decay[:, j].reshape(b, kv, -1)[..., None])
        value = v[:, j]
        if beta is not None:
            value = beta[:, j, :, None] * (value - np.einsum("bhkv,bhk->bhv", state, k[:, j]))
        state = state + np.einsum("bhk,bhv->bhkv", k[:, j], value)
        out[:, j] = np.einsum("bhkv,bhk->bhv", state.repeat(most // kv, 1), q[:, j])
        if window - t + j >= 0:
            states[window - t + j] = state
    out *= case.attrs.get("scale", size ** -0.5)
    case.answer = [out.reshape(b, t, -1).astype(np.float32), states.astype(np.float32)]
    return case


def gated(decay, gate, lower, a_log, dt_bias):
    """What states are multiplied by, [tokens, heads, 1 or size]."""
    if gate != "none":
        speed = np.exp(a_log.astype(np.float64))[:, None]
        moved = decay + dt_bias.reshape(len(a_log), -1)
        decay = -speed * softplus(moved) if gate in ("softplus", "qwen") else lower * sigmoid(speed * moved)
    return np.exp(decay)


def delta_net(given, attrs, ends, rows, heads):
    """The three results by the formulas, of queries, keys and values [tokens, heads, size]."""
    q, k, v = rows
    size, (v_heads, v_size) = q.shape[2], v.shape[1:]
    if attrs["qk_l2_norm"]:
        q, k = (x / np.sqrt((x * x).sum(2, keepdims=True) + 1e-12) for x in (q, k))
    q, k = q.repeat(v_heads // heads, 1), k.repeat(v_heads // heads, 1)
    decay, beta, capacity = given["decay"], given["beta"], attrs.get("state_update_capacity", 0)
    keep = np.ones((len(q), v_heads, 1))
    if decay is not None:
        keep = gated(decay.reshape(len(q), v_heads, -1), attrs.get("gate_activation", "none"),
                     attrs.get("gate_lower_bound", -5.0), given["a_log"], given["dt_bias"])
    if beta is not None:
        beta = beta.reshape(len(q), v_heads, 1)
        beta = sigmoid(beta) if attrs["beta_activation"] == "sigmoid" else beta
    out, states, updates = np.zeros((len(q), v_heads, v_size)), [], []
    for r, (begin, end) in enumerate(zip(ends, ends[1:])):
        state = given["initial_state"][r].astype(np.float64)  # values, then keys
        captured = [np.zeros((capacity, n)) for n in (keep[0].size, heads * size, v_heads * v_size)]
        for t in range(begin, end):
            state = state * keep[t][:, None]
            value = v[t]
            if beta is not None:
                value = beta[t] * (value - np.einsum("hvk,hk->hv", state, k[t]))
            state = state + value[..., None] * k[t][:, None]
            out[t] = np.einsum("hvk,hk->hv", state, q[t])
            if t - begin < capacity:
                parts = keep[t], k[t].reshape(heads, -1, size)[:, 0], value
                for rows_of, part in zip(captured, parts):
                    rows_of[t - begin] = part.ravel()
        states.append(state)
        updates.append(np.concatenate([c.ravel() for c in captured]))
    return out * (attrs["scale"] or size ** -0.5), np.stack(states), np.stack(updates)


@maker("GatedDeltaNet")
def make_gated_delta_net(m, i):
    """ONNX Runtime 1.32 has it on the CPU, older ones have not."""
    rule, gate = RULES[(i + 3) % 4], ["none", "softplus", "kda", "none", "qwen", "sigmoid"][i // 2 % 6]
    requests, length, heads = m.size(1, 3), m.size(1, 5), m.size(1, 2)
    v_heads, size, v_size = heads * m.size(1, 2), m.size(1, 6), m.size(1, 6)
    tokens, ragged, packed, biased = requests * length, i % 3 == 2, i % 4 == 3, gate != "none"
    lead = [requests, length] if i % 3 == 1 else [tokens]
    q, k, v = m.floats(tokens, heads, size), m.floats(tokens, heads, size), m.floats(tokens, v_heads, v_size)
    if packed:
        m.give("query", np.concatenate([x.reshape(*lead, -1) for x in (q, k, v)], -1))
        m.absent("key")
        m.absent("value")
    else:
        for name, x in (("query", q), ("key", k), ("value", v)):
            m.give(name, x.reshape(*lead, *x.shape[1:]))
    ends = np.arange(requests + 1, dtype=np.int32) * length
    if ragged:
        ends = np.sort(np.concatenate([[0, tokens], m.whole(np.int32, 0, tokens, requests - 1)])).astype(np.int32)
    m.give("cu_seqlens", ends if ragged else None)
    each = [v_heads, size] if i // 2 % 2 else [v_heads]
    m.give("decay", -m.positive(*lead, *each, high=2) if "gated" in rule else None)
    m.give("beta", m.positive(*lead, v_heads, high=1) if "delta" in rule else None)
    m.give("initial_state", m.floats(requests, v_heads, v_size, size))
    m.give("a_log", m.floats(v_heads) if biased else None)
    whole = i % 2 and len(each) == 2 and "gated" in rule
    m.give("dt_bias", m.floats(*(each if whole else [v_heads])) if biased else None)
    capacity = i % 5 == 4
    # What lies behind the captured tokens is not specified: all are.
    m.give("capture_count", np.full(requests, length, np.int32) if capacity and not ragged else None)
    m.out("output", "final_state")
    extra = {"gate_activation": gate} if biased else {}
    if capacity and not ragged:
        m.out("state_update")
        extra["state_update_capacity"] = length
    m.case.fixed = True
    attrs = dict(update_rule=rule, qk_l2_norm=i // 3 % 2, scale=[0.0, 0.5][i // 2 % 2], gate_lower_bound=-2.0,
                 beta_activation=["none", "sigmoid"][i // 4 % 2], **extra)
    given = {name: array for name, array, _ in m.case.inputs}
    out, state, update = delta_net(given, attrs, ends, [x.astype(np.float64) for x in (q, k, v)], heads)
    answer = [out.reshape(*lead, v_heads, v_size), state, update][:len(m.case.outputs)]
    m.case.answer = [x.astype(np.float32) for x in answer]
    return m.done(**attrs)


@maker("CropAndResize")
def make_crop_and_resize(m, i):
    n, c, h, w, rois = m.size(1, 3), m.size(1, 4), m.size(1, 9), m.size(2, 9), m.size(1, 5)
    m.give("X", m.floats(n, c, h, w))
    m.give("rois", m.r.uniform(-0.2, 1.2, (rois, 4)).astype(np.float32))
    m.give("batch_indices", m.whole(np.int32, 0, n - 1, rois))
    m.give("crop_size", m.whole(np.int32, 1, 6, 2), True)
    m.out("Y")
    extra = {} if i % 3 == 2 else {"extrapolation_value": 3.5}
    return m.done(mode=["bilinear", "nearest"][i % 2], **extra)


# ---- experimental operators of ONNX 1.2 to 1.4 ----

def experimental(m, i):
    m.case.domain, m.case.opset = "", [7, 9, 8, 1][i % 4]
    m.out("y")


def curve(m, i):
    experimental(m, i)
    m.give("x", m.floats(*[m.size(1, 5) for _ in range(i % 3 + 1)], scale=3))
    return m.done(alpha=[1.0, 0.5, -2.0][i % 3], beta=[1.0, 3.0][i % 2])


maker("ScaledTanh")(curve)
maker("ParametricSoftplus")(curve)
maker("Affine")(curve)


@maker("Scale")
def make_scale(m, i):
    experimental(m, i)
    m.give("x", m.floats(*[m.size(1, 5) for _ in range(i % 3 + 1)]))
    return m.done(**({} if i % 3 == 2 else {"scale": [2.5, -1.0][i % 2]}))


@maker("ImageScaler")
def make_image_scaler(m, i):
    experimental(m, i)
    c = m.size(1, 4)
    m.give("x", m.floats(m.size(1, 3), c, m.size(1, 6), m.size(1, 6)))
    return m.done(bias=[float(v) for v in m.floats(c)], **({} if i % 3 == 2 else {"scale": 2.5}))


@maker("Crop")
def make_crop(m, i):
    experimental(m, i)
    h, w = m.size(4, 9), m.size(4, 9)
    m.give("x", m.floats(m.size(1, 2), m.size(1, 3), h, w))
    border = [m.size(0, 2) for _ in range(4)]
    scale = {"scale": [m.size(1, h - 2), m.size(1, w - 2)]} if i % 2 else {}
    return m.done(border=border, **scale)
