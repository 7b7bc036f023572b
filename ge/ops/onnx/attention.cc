#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct AttentionSizes {
  Dim batch, q_heads, kv_heads, q_len, kv_len, size, v_size, past, total;
};

Status CheckAttentionAttrs(const Node& n) {
  const int64_t mode = AttrInt(n, "qk_matmul_output_mode");
  if (mode < 0 || mode > 3) {
    return Bad(n, fmt::format("attribute 'qk_matmul_output_mode' is {}, wanted 0 (product), 1 "
                              "(after softcap), 2 (after the mask) or 3 (after softmax)",
                              mode));
  }
  for (const char* name : {"left_window_size", "right_window_size"}) {
    const int64_t size = AttrInt(n, name);
    if (size >= -1) continue;
    return Bad(n, fmt::format("attribute '{}' is {}, wanted a number of keys or -1: no bound", name,
                              size));
  }
  for (const char* name : {"scale", "softcap"}) {
    const double v = AttrFloat(n, name);
    if (!std::isfinite(v) || v < 0) {
      return Bad(n, fmt::format("attribute '{}' is {}, wanted a finite number that is not negative",
                                name, v));
    }
  }
  if (!HasAttr(n, "softmax_precision")) return {};
  const int64_t precision = AttrInt(n, "softmax_precision", 1);
  const bool real = precision > 0 && precision < kDTypeCount &&
                    (Bit(static_cast<DType>(precision)) & kFloats) != 0;
  if (real) return {};
  return Bad(n, fmt::format("attribute 'softmax_precision' is {}, wanted 1 (f32), 10 (f16), 11 "
                            "(f64) or 16 (bf16)",
                            precision));
}

// Heads, length and size of a head of Q, K or V.
Status ReadAttentionHeads(InferContext& c, size_t i, Dim* heads, Dim* length, Dim* size) {
  const Type& t = c.input_type(i);
  const bool query = i == 0;
  if (t.rank() == 4) {
    *heads = t.dims[1];
    *length = t.dims[2];
    *size = t.dims[3];
    return {};
  }
  const char* attr = query ? "q_num_heads" : "kv_num_heads";
  const int64_t n = AttrInt(c.node(), attr);
  if (n < 1) {
    return Bad(c.node(), fmt::format("attribute '{}' is {}, wanted at least 1 beside inputs of "
                                     "rank 3",
                                     attr, HasAttr(c.node(), attr) ? std::to_string(n) : "absent"));
  }
  *heads = KnownDim(n);
  *length = t.dims[1];
  if (t.dims[2].known() && t.dims[2].value % n != 0) {
    return Bad(c.node(), fmt::format("input {} has hidden size {}, wanted a multiple of attribute "
                                     "'{}', {}",
                                     i, t.dims[2].value, attr, n));
  }
  GE_ASSIGN_OR_RETURN(
      *size, Checked(c.node(), c.dims().FloorDiv(t.dims[2], KnownDim(n)), "the size of a head"));
  return {};
}

Result<AttentionSizes> ReadAttention(InferContext& c) {
  AttentionSizes s;
  Dim k_size, v_heads, v_len;
  GE_RETURN_IF_ERROR(ReadAttentionHeads(c, 0, &s.q_heads, &s.q_len, &s.size));
  GE_RETURN_IF_ERROR(ReadAttentionHeads(c, 1, &s.kv_heads, &s.kv_len, &k_size));
  GE_RETURN_IF_ERROR(ReadAttentionHeads(c, 2, &v_heads, &v_len, &s.v_size));
  s.batch = c.input_type(0).dims[0];
  for (size_t i : {1u, 2u}) {
    GE_ASSIGN_OR_RETURN(s.batch,
                        SameDim(c, s.batch, c.input_type(i).dims[0], "batch size of Q, K and V"));
  }
  GE_ASSIGN_OR_RETURN(s.size, SameDim(c, s.size, k_size, "size of a head of 'Q' and 'K'"));
  GE_ASSIGN_OR_RETURN(s.kv_heads, SameDim(c, s.kv_heads, v_heads, "heads of 'K' and 'V'"));
  GE_ASSIGN_OR_RETURN(s.kv_len, SameDim(c, s.kv_len, v_len, "sequence length of 'K' and 'V'"));
  if (s.q_heads.known() && s.kv_heads.known() &&
      (s.kv_heads.value < 1 || s.q_heads.value % s.kv_heads.value != 0)) {
    return Bad(c.node(), fmt::format("found {} heads of 'Q' and {} of 'K', wanted a multiple",
                                     s.q_heads.value, s.kv_heads.value));
  }
  s.past = KnownDim(0);
  if (c.input_count() > 4 && c.has_input(4)) {
    const Type& past = c.input_type(4);
    s.past = past.ranked && past.rank() == 4 ? past.dims[2] : c.FreshDim("past", false);
  }
  GE_ASSIGN_OR_RETURN(s.total, Checked(c.node(), c.dims().Add(s.past, s.kv_len),
                                       "the length of the past and 'K' together"));
  return s;
}

// The mask broadcasts to the scores; its last axis may be shorter, the rest is then masked.
Status CheckAttentionMask(InferContext& c, const AttentionSizes& s) {
  if (c.input_count() <= 3 || !c.has_input(3) || !c.input_type(3).ranked) return {};
  const Type& m = c.input_type(3);
  const Dim wanted[] = {s.batch, s.q_heads, s.q_len, s.total};
  bool fits = m.rank() >= 1 && m.rank() <= 4;
  for (size_t d = 0; fits && d < m.rank(); ++d) {
    const Dim want = wanted[4 - m.rank() + d], have = m.dims[d];
    if (!want.known() || !have.known()) continue;
    fits = d + 1 == m.rank() ? have.value <= want.value : have.value == 1 || have == want;
  }
  if (fits) return {};
  return Bad(c.node(), fmt::format("input 'attn_mask' has shape {}, wanted one that broadcasts to "
                                   "{}, or is shorter in its last axis",
                                   Show(c.dims(), m.dims), Show(c.dims(), wanted)));
}

Status CheckAttentionInputs(InferContext& c, const AttentionSizes& s) {
  GE_RETURN_IF_ERROR(CheckAttentionMask(c, s));
  const auto has = [&](size_t i) { return c.input_count() > i && c.has_input(i); };
  if (has(4) != has(5)) {
    return Bad(c.node(), fmt::format("input '{}' is absent, wanted both 'past_key' and "
                                     "'past_value' or neither",
                                     has(4) ? "past_value" : "past_key"));
  }
  if (has(4) && has(6)) {
    return Bad(c.node(),
               "inputs 'past_key' and 'nonpad_kv_seqlen' are both there, wanted one: "
               "the cache is kept inside the operator or outside");
  }
  if (has(4)) {
    const Dim key[] = {s.batch, s.kv_heads, s.past, s.size};
    const Dim value[] = {s.batch, s.kv_heads, s.past, s.v_size};
    GE_RETURN_IF_ERROR(WantShape(c, 4, "past_key", key));
    GE_RETURN_IF_ERROR(WantShape(c, 5, "past_value", value));
  }
  if (has(6)) {
    const Dim lengths[] = {s.batch};
    GE_RETURN_IF_ERROR(WantShape(c, 6, "nonpad_kv_seqlen", lengths));
  }
  return {};
}

Status InferAttention(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckAttentionAttrs(c.node()));
  const auto dtype = [&](size_t i) { return c.input_type(i == 2 ? 2 : 0).dtype; };
  const char* names[] = {"Q", "K", "V"};
  bool ranked = true;
  size_t rank = 0;
  for (size_t i = 0; i < 3; ++i) {
    const Type& t = c.input_type(i);
    ranked = ranked && t.ranked;
    if (!t.ranked) continue;
    if ((t.rank() != 3 && t.rank() != 4) || (rank != 0 && t.rank() != rank)) {
      return Bad(c.node(), fmt::format("input '{}' has shape {}, wanted rank 3 or 4, the same for "
                                       "'Q', 'K' and 'V'",
                                       names[i], Show(c.dims(), t.dims)));
    }
    rank = t.rank();
  }
  if (!ranked) {
    for (size_t i = 0; i < c.output_count(); ++i) {
      if (c.has_output(i)) c.SetOutput(i, UnrankedTensor(dtype(i)));
    }
    return {};
  }
  GE_ASSIGN_OR_RETURN(const AttentionSizes s, ReadAttention(c));
  GE_RETURN_IF_ERROR(CheckAttentionInputs(c, s));
  std::vector<Dim> y = {s.batch, s.q_heads, s.q_len, s.v_size};
  if (rank == 3) {
    GE_ASSIGN_OR_RETURN(const Dim hidden, Checked(c.node(), c.dims().Mul(s.q_heads, s.v_size),
                                                  "the hidden size of 'Y'"));
    y = {s.batch, s.q_len, hidden};
  }
  const std::vector<Dim> dims[] = {y,
                                   {s.batch, s.kv_heads, s.total, s.size},
                                   {s.batch, s.kv_heads, s.total, s.v_size},
                                   {s.batch, s.q_heads, s.q_len, s.total}};
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (c.has_output(i)) GE_RETURN_IF_ERROR(SetTensor(c, i, dtype(i), dims[i]));
  }
  return {};
}

// Two products and a softmax. The scores are counted from Q and K: each has one row per position.
Work EffortAttention(const Node& n, std::span<const Type> in, std::span<const Type> out) {
  Work work{0, BytesOf(in, out)};
  if (in.size() < 3 || !in[0].is_static() || !in[1].is_static() || out.empty() ||
      (in[0].rank() != 4 && in[0].rank() != 3) || in[1].rank() != in[0].rank()) {
    return work;
  }
  const bool packed = in[0].rank() == 3;
  const double heads = packed ? static_cast<double>(AttrInt(n, "q_num_heads", 1))
                              : static_cast<double>(in[0].dims[1].value);
  double keys = static_cast<double>(in[1].dims[packed ? 1 : 2].value);
  if (in.size() > 4 && in[4].is_static() && in[4].rank() == 4) {
    keys += static_cast<double>(in[4].dims[2].value);
  }
  const int64_t left = AttrInt(n, "left_window_size", -1);
  const int64_t right = AttrInt(n, "is_causal") != 0 ? 0 : AttrInt(n, "right_window_size", -1);
  if (left >= 0 && right >= 0) {
    keys = std::min(keys, static_cast<double>(left) + static_cast<double>(right) + 1);
  }
  const double rows = static_cast<double>(in[0].dims[0].value) * heads *
                      static_cast<double>(in[0].dims[packed ? 1 : 2].value);
  work.flops = 2 * keys * (ElementsOf(in[0]) + ElementsOf(out[0])) + 15 * rows * keys;
  return work;
}

OpDef AttentionRecord() {
  OpDef op{"", "Attention", 25, {}, {}, {}, InferAttention, EffortAttention};
  const Arity opt = Arity::kOptional;
  op.inputs = {{"Q", kFloats, "T1"},
               {"K", kFloats, "T1"},
               {"V", kFloats, "T2"},
               {"attn_mask", kNumeric | Bit(DType::kBool), "U", opt},
               {"past_key", kFloats, "T1", opt},
               {"past_value", kFloats, "T2", opt},
               {"nonpad_kv_seqlen", Bit(DType::kInt64), "", opt}};
  op.outputs = {{"Y", kFloats, "T1"},
                {"present_key", kFloats, "T1", opt},
                {"present_value", kFloats, "T2", opt},
                {"qk_matmul_output", kFloats, "T1", opt}};
  op.attrs = {{"is_causal", AttrKind::kInt, 0},
              {"kv_num_heads", AttrKind::kInt},
              {"left_window_size", AttrKind::kInt, -1},
              {"q_num_heads", AttrKind::kInt},
              {"qk_matmul_output_mode", AttrKind::kInt, 0},
              {"right_window_size", AttrKind::kInt, -1},
              {"scale", AttrKind::kFloat},
              {"softcap", AttrKind::kFloat, 0.0f},
              {"softmax_precision", AttrKind::kInt}};
  return op;
}

}  // namespace

// softmax(Q * K^T * scale, capped and masked) * V for each head, with a cache of keys and values.
// Row i stands at p = offset + i and sees keys [p - left_window_size, p + right_window_size]: the
// offset is the past's length, or nonpad_kv_seqlen less the rows.
GE_OP(attention) = AttentionRecord();

}  // namespace ge
