"""Attention over caches for microsoft_ops.py: GroupQueryAttention's options, the step of a decoder and
block-sparse attention. ONNX Runtime wants the caches of the last where it writes them, and reads
wrong scores there where samples are of different lengths; they are of one here."""
import numpy as np

from microsoft_cases import maker


@maker("GroupQueryAttention, sinks")
def make_group_query_attention_options(m, i):
    m.case.op = "GroupQueryAttention"
    kv, size, first = m.size(1, 2), 16, i % 2 == 0
    heads, b, s, past = kv * m.size(1, 2), m.size(1, 3), m.size(2, 6) if first else 1, m.size(1, 5)
    if first:
        past = 0
    if i == 4:  # steps behind a past: of one sample alone
        b, past = 1, 4
    total = past + s
    m.give("query", m.floats(b, s, heads * size))
    for name in ("key", "value"):
        m.give(name, m.floats(b, s, kv * size))
    for name in ("past_key", "past_value"):
        m.give(name, m.floats(b, kv, past, size))
    lengths = np.full([(b,), (b, 1), (1, b)][i % 3], total - 1, np.int32)
    m.give("seqlens_k", lengths)
    m.give("total_sequence_length", np.array(total, np.int32).reshape([(), (1,)][i % 2]), True)
    turned = i % 3 != 1
    angles = m.floats(16, size // 2, scale=3)
    for name, table in (("cos_cache", np.cos(angles)), ("sin_cache", np.sin(angles))):
        m.give(name, table if turned else None)
    m.give("position_ids", m.whole(np.int64, 0, 16 - s, b, s) if turned else None)
    m.give("attention_bias",
           m.floats([1, b][i // 2 % 2], [1, heads][i % 2], s, total) if i % 4 != 3 else None)
    m.give("head_sink", m.floats(heads, scale=2) if i % 2 else None)
    extra = {"smooth_softmax": 1} if i in (0, 3) else {}
    extra |= {"do_rotary": 1} if turned else {}
    extra |= [{"causal": 0}, {"local_window_size": 2}, {"softcap": 1.5}][i % 3]
    names = ["output", "present_key", "present_value"]
    if i % 3 != 2:
        names.append("output_qk")
        extra["qk_output"] = i % 3 + 1
    m.out(*names)
    m.case.fixed = True
    return m.done(num_heads=heads, kv_num_heads=kv, **extra)


@maker("DecoderMaskedMultiHeadAttention")
def make_decoder_masked(m, i):
    heads, size, batch, width = m.size(1, 3), m.size(2, 8), m.size(1, 2), [1, 2, 1][i % 3]
    samples, hidden = batch * width, heads * size
    m.give("query", m.floats(samples, 1, hidden))
    extra = {"mask_filter_value": -2.0} if i % 2 else {}
    if i % 3 == 2:  # keys and values of another sequence
        keys = m.size(1, 6)
        for name in ("key", "value"):
            m.give(name, m.floats(samples, heads, keys, size))
        m.give("mask_index", m.whole(np.int32, 0, 1, samples, keys) if i % 2 else None)
        for name in ("attention_bias", "past_key", "past_value", "past", "beams", "indirection"):
            m.absent(name)
        m.give("bias", m.floats(3 * hidden) if i == 2 else None)
        m.out("output", *(["", "", "qk"] if i == 5 else []))
        return m.done(num_heads=heads, **({"output_qk": 1} if i == 5 else {}), **extra)
    past, rows = m.size(0, 4), m.size(5, 8)
    for name in ("key", "value"):
        m.give(name, m.floats(samples, 1, hidden))
    m.give("mask_index", m.whole(np.int32, 0, 1, samples, past + 1) if i % 2 else None)
    m.give("attention_bias", m.floats(1, heads, 1, past + 1) if i % 2 == 0 else None)
    for name in ("past_key", "past_value"):
        m.give(name, m.floats(samples, heads, rows, size))
    m.give("past_sequence_length", np.array([past], np.int32), True)
    m.give("beam_width", np.array([width], np.int32) if width > 1 else None)
    m.give("cache_indirection",
           m.whole(np.int32, 0, width - 1, batch, width, rows) if width > 1 else None)
    m.give("bias", m.floats(3 * hidden) if i < 3 else None)
    m.out("output", "present_key", "present_value", *(["qk"] if i > 2 else []))
    m.case.fixed = True
    return m.done(num_heads=heads, past_present_share_buffer=1,
                  **({"output_qk": 1} if i > 2 else {}), **extra)


def layouts_of(m, count, blocks):
    """Rows and columns of layouts in which a block sees itself and some before it."""
    rows, columns = [], []
    for _ in range(count):
        rows.append([0])
        columns.append([])
        for row in range(blocks):
            columns[-1] += [k for k in range(row + 1) if k == row or m.size(0, 1)]
            rows[-1].append(len(columns[-1]))
    most = max(map(len, columns))
    columns = [c + [-1] * (most - len(c)) for c in columns]
    return np.array(rows, np.int32), np.array(columns, np.int32)


@maker("SparseAttention")
def make_sparse_attention(m, i):
    kv, size, block, blocks = m.size(1, 2), 16, 16, m.size(2, 4)
    heads, batch, rows = 2 * kv, m.size(1, 2), block * blocks
    total = m.size(block + 1, rows)
    steps = total if i % 2 == 0 else m.size(1, 3)
    packed, turned = i % 3 == 1, i % 3 != 0
    m.give("query", m.floats(batch, steps, (heads + 2 * kv if packed else heads) * size))
    for name in ("key", "value"):
        m.give(name, None if packed else m.floats(batch, steps, kv * size))
    for name in ("past_key", "past_value"):
        m.give(name, m.floats(batch, kv, rows, size))
    for name, array in zip(("block_row_indices", "block_col_indices"),
                           layouts_of(m, 1 + i // 2 % 2, blocks)):
        m.give(name, array)
    m.give("total_sequence_length", np.array([total], np.int32), True)
    m.give("key_total_sequence_lengths", np.full(batch, total, np.int32))
    angles = m.floats(rows, size // 2, scale=3)
    for name, table in (("cos_cache", np.cos(angles)), ("sin_cache", np.sin(angles))):
        m.give(name, table if turned else None)
    m.out("output", "present_key", "present_value")
    m.case.shared = {"present_key": "past_key", "present_value": "past_value"}
    extra = {"do_rotary": 1, "rotary_interleaved": i & 1} if turned else {"scale": 0.5}
    return m.done(num_heads=heads, kv_num_heads=kv, sparse_block_size=block, **extra)
