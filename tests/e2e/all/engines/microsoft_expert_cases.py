"""Mixtures of experts for microsoft_ops.py.

ONNX Runtime's CPU kernels take fused SwiGLU with the gates beside the values alone, no third weight
and one width of codes for all weights; what else the operators' documentation defines has its answer
from the numpy formula below, which agrees with ONNX Runtime where that computes.
"""
import numpy as np

from microsoft_cases import maker, sigmoid


def picks_of(scores, k):
    """The experts of each token, best first; of equal ones the last."""
    return scores.shape[1] - 1 - np.argsort(-scores[:, ::-1], axis=1, kind="stable")[:, :k]


def activated(kind, gate, value, attrs):
    if kind == "swiglu":
        limit = attrs.get("swiglu_limit", np.inf)
        gate, value = np.minimum(gate, limit), np.clip(value, -limit, limit)
        alpha, beta = attrs.get("activation_alpha", 1.0), attrs.get("activation_beta", 0.0)
        return gate * sigmoid(alpha * gate) * (value + beta)
    bent = gate * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate ** 3))) / 2
    curve = {"relu": np.maximum(gate, 0), "relu2": np.maximum(gate, 0) ** 2, "identity": gate,
             "silu": gate * sigmoid(gate), "gelu": bent, "geglu": bent}[kind]
    return curve * value


def mixture(x, scores, weights, biases, attrs, shares_of):
    """weights and biases: of the first product, the second and the gate's; None where absent."""
    tokens = x.reshape(-1, x.shape[-1]).astype(np.float64)
    y = np.zeros_like(tokens)
    kind, fusion = attrs.get("activation_type", "relu"), attrs.get("swiglu_fusion", 0)
    for t, picks in enumerate(picks_of(scores, attrs.get("k", 1))):
        for expert, share in zip(picks, shares_of(t, picks)):
            def product(which, v):
                bias = 0 if biases[which] is None else biases[which][expert]
                return weights[which][expert] @ v + bias
            h = product(0, tokens[t])
            if fusion == 1:
                gate, value = h[0::2], h[1::2]
            elif fusion == 2:
                gate, value = h[:len(h) // 2], h[len(h) // 2:]
            else:
                gate, value = h, 1 if weights[2] is None else product(2, tokens[t])
            y[t] += share * product(1, activated(kind, gate, value, attrs))
    return y.reshape(x.shape).astype(np.float32)


def softmax(v):
    e = np.exp(v - v.max())
    return e / e.sum()


def activation_of(i, plain=False):
    """Attributes of the i-th case, of those that ONNX Runtime's CPU kernels take or of the others."""
    gates = {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 0.5}
    if plain:
        return [{"activation_type": "swiglu", "swiglu_fusion": 1} | gates, {},
                {"activation_type": "silu"}, {"activation_type": "gelu"},
                {"activation_type": "swiglu", "swiglu_fusion": 1},
                {"activation_type": "identity"}][i % 6]
    return [{"activation_type": "swiglu", "swiglu_fusion": 2} | gates,
            {"activation_type": "swiglu", "swiglu_fusion": 0} | gates,
            {"activation_type": "geglu", "swiglu_fusion": 1}, {"activation_type": "relu2"},
            {"activation_type": "silu"}, {"activation_type": "geglu", "swiglu_fusion": 2}][i % 6]


def give_tokens(m, i, hidden, experts):
    count = m.size(1, 6)
    x = m.give("input", m.floats(1, count, hidden) if i % 3 == 2 else m.floats(count, hidden))
    # Of equal scores the last expert comes first.
    scores = np.zeros((count, experts), np.float32) if i == 5 else m.floats(count, experts, scale=2)
    return x, m.give("router_probs", scores)


def moe(m, i, attrs, third):
    hidden, inter, experts = m.size(4, 12), m.size(4, 12), m.size(2, 6)
    x, scores = give_tokens(m, i, hidden, experts)
    wide = inter * 2 if attrs.get("swiglu_fusion", 0) else inter
    weights, biases = [None] * 3, [None] * 3
    for which, (n, k) in enumerate([(wide, hidden), (hidden, inter), (inter, hidden)]):
        if which == 2 and not third:
            break
        weights[which] = m.weight(f"fc{which + 1}_experts_weights", m.floats(experts, n, k))
        biases[which] = m.floats(experts, n) if i % 2 else None
        m.give(f"fc{which + 1}_experts_bias", biases[which])
    m.out("output")
    attrs = attrs | {"k": m.size(1, min(3, experts)), "normalize_routing_weights": i // 2 % 2}

    def shares_of(t, picks):
        parts = softmax(scores[t].astype(np.float64))[picks]
        return parts / parts.sum() if attrs["normalize_routing_weights"] else parts
    return m.done(**attrs), mixture(x, scores, weights, biases, attrs, shares_of)


@maker("MoE")
def make_moe(m, i):
    return moe(m, i, activation_of(i, plain=True), False)[0]


@maker("MoE, other gates")
def make_moe_gates(m, i):
    m.case.op = "MoE"
    attrs = activation_of(i)
    third = attrs.get("swiglu_fusion", 0) == 0 and (attrs["activation_type"] == "swiglu" or i == 4)
    case, case.answer = (made := moe(m, i, attrs, third))[0], [made[1]]
    return case


def packed(codes, bits):
    """Codes of the last axis in bytes, low bits first."""
    per_byte = 8 // bits
    short = -codes.shape[-1] % per_byte
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, short)])
    codes = codes.reshape(codes.shape[:-1] + (-1, per_byte)).astype(np.uint16)
    return (codes << (np.arange(per_byte) * bits)).sum(-1).astype(np.uint8)


def give_codes(m, which, shape, bits, block, zeros):
    """A weight of codes with its scales; answers the numbers, and its zero points as bytes."""
    experts, n, k = shape
    codes = m.whole(np.int32, 0, 2 ** bits - 1, experts, n, k)
    blocks = -(-k // block) if block else 1
    scales = m.positive(experts, n, blocks, low=0.2 / 2 ** bits, high=1 / 2 ** bits)
    points = m.whole(np.int32, 0, 2 ** bits - 1, experts, n, blocks)
    m.give(f"fc{which}_experts_weights", packed(codes, bits))
    m.give(f"fc{which}_scales", scales if block else scales[:, :, 0])
    spread = [np.repeat(v, block or k, axis=2)[:, :, :k] for v in (points, scales)]
    moved = codes - (spread[0] if zeros else 2 ** (bits - 1))
    given = packed(points, bits) if block else packed(points[:, :, 0], bits)
    return moved * spread[1].astype(np.float64), given if zeros else None


def q_moe(m, i, attrs, third, widths):
    block, experts = [0, 16, 32][i % 3], m.size(2, 4)
    hidden, inter = 16 * m.size(1, 3), 16 * m.size(1, 3)
    x, scores = give_tokens(m, i, hidden, experts)
    wide = inter * 2 if attrs.get("swiglu_fusion", 0) else inter
    weights, biases, zeros = [None] * 3, [None] * 3, [None] * 3
    for which, (n, k) in enumerate([(wide, hidden), (hidden, inter), (inter, hidden)]):
        if which == 2 and not third:
            for name in ("weights", "scales", "bias"):
                m.absent(name)
            break
        weights[which], zeros[which] = give_codes(m, which + 1, (experts, n, k), widths[which],
                                                  block, i % 2 == 1)
        biases[which] = m.floats(experts, n) if i % 4 > 1 else None
        m.give(f"fc{which + 1}_experts_bias", biases[which])
    for which in range(3):
        m.give(f"fc{which + 1}_zero_points", zeros[which])
    own = m.give("router_weights", m.positive(*scores.shape, high=1.0) if i % 4 == 3 else None)
    m.out("output")
    attrs = attrs | {"k": m.size(1, 2), "normalize_routing_weights": i // 2 % 2}
    attrs |= {"block_size": block} if block else {}

    def shares_of(t, picks):
        parts = softmax(scores[t][picks].astype(np.float64)) if own is None else own[t][picks]
        return parts / parts.sum() if attrs["normalize_routing_weights"] else parts
    return m.done(**attrs), mixture(x, scores, weights, biases, attrs, shares_of)


@maker("QMoE")
def make_q_moe(m, i):
    bits = [4, 8, 2][i // 2 % 3]
    attrs = activation_of(i, plain=True) | ({"expert_weight_bits": bits} if bits != 4 else {})
    return q_moe(m, i, attrs | ({"weights_prepacked": 0} if i % 2 else {}), False, [bits] * 3)[0]


@maker("QMoE, other gates")
def make_q_moe_gates(m, i):
    m.case.op = "QMoE"
    attrs = activation_of(i)
    third = attrs.get("swiglu_fusion", 0) == 0 and attrs["activation_type"] == "swiglu"
    widths = [8, 4, 4] if third else [4, 8, 4]
    attrs |= {"expert_weight_bits": 4, f"fc{1 + (widths[0] == 4)}_expert_weight_bits": 8}
    case, case.answer = (made := q_moe(m, i, attrs, third, widths))[0], [made[1]]
    return case
