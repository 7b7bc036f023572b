// Attention and QAttention: one product makes Q, K and V of the input, whose heads attend to each
// other. They differ in where the inputs stand and in how the product is made. Not an operator. Any
// thread may call.
#pragma once

#include "ge/ops/microsoft/attention.h"

namespace ge {

// Where inputs stand; 0 = the operator has none.
struct SelfAttentionPorts {
  size_t mask, past, bias;  // bias: of the scores
};

// Hidden sizes of Q, K and V together.
struct QkvSizes {
  Dim q, k, v;
};

inline Result<QkvSizes> ReadQkvSizes(InferContext& c, Dim all) {
  const std::vector<int64_t>& given = AttrInts(c.node(), "qkv_hidden_sizes");
  if (given.empty()) {
    if (all.known() && all.value % 3 != 0) {
      return Bad(c.node(), fmt::format("input 1 has {} columns, wanted a multiple of 3 (Q, K and "
                                       "V), or attribute 'qkv_hidden_sizes'",
                                       all.value));
    }
    GE_ASSIGN_OR_RETURN(const Dim third, Checked(c.node(), c.dims().FloorDiv(all, KnownDim(3)),
                                                 "a third of the columns"));
    return QkvSizes{third, third, third};
  }
  // Each is bounded before they are added.
  const bool three = given.size() == 3 && given[0] == given[1];
  bool fits = three;
  for (int64_t size : given) fits = fits && size > 0 && size < (int64_t{1} << 40);
  if (!fits || (all.known() && given[0] + given[1] + given[2] != all.value)) {
    return Bad(c.node(), fmt::format("attribute 'qkv_hidden_sizes' is [{}], wanted three sizes, "
                                     "the first two equal, whose sum is the columns of input 1, {}",
                                     fmt::join(given, ","), c.dims().ToString(all)));
  }
  return QkvSizes{KnownDim(given[0]), KnownDim(given[1]), KnownDim(given[2])};
}

// The length of the past; checks its shape and that of the bias of the product.
inline Result<Dim> CheckSelfAttentionPast(InferContext& c, const SelfAttentionPorts& p, Dim batch,
                                          Dim size) {
  if (!HasInput(c, p.past)) return KnownDim(0);
  const Type& past = c.input_type(p.past);
  if (!past.ranked || past.rank() != 5) {
    GE_RETURN_IF_ERROR(WantRankOf(c, p.past, "past", 5, 5));
    return c.FreshDim("past", false);
  }
  const Dim length = past.dims[3];
  const Dim wanted[] = {KnownDim(2), batch, KnownDim(AttrInt(c.node(), "num_heads", 1)), length,
                        size};
  GE_RETURN_IF_ERROR(WantShape(c, p.past, "past", wanted));
  return length;
}

inline Status InferSelfAttention(InferContext& c, const SelfAttentionPorts& p, DType dtype) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckAttentionMsAttrs(n));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "do_rotary", 0));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "past_present_share_buffer", 0));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "input", 3, 3));
  GE_RETURN_IF_ERROR(WantRankOf(c, 1, "weights", 2, 2));
  const Type &x = c.input_type(0), &w = c.input_type(1);
  if (!x.ranked || !w.ranked) {
    for (size_t o = 0; o < c.output_count(); ++o) {
      if (c.has_output(o)) c.SetOutput(o, UnrankedTensor(dtype));
    }
    return {};
  }
  GE_RETURN_IF_ERROR(
      SameDim(c, x.dims[2], w.dims[0], "input's last and weights' first axis").status());
  GE_RETURN_IF_ERROR(WantVector(c, 2, "bias", w.dims[1]));
  GE_ASSIGN_OR_RETURN(const QkvSizes sizes, ReadQkvSizes(c, w.dims[1]));
  const int64_t heads = AttrInt(n, "num_heads", 1);
  GE_ASSIGN_OR_RETURN(const Dim size, HeadSize(c, sizes.k, heads, "K"));
  GE_ASSIGN_OR_RETURN(const Dim v_size, HeadSize(c, sizes.v, heads, "V"));
  const Dim batch = x.dims[0], steps = x.dims[1];
  GE_ASSIGN_OR_RETURN(const Dim past, CheckSelfAttentionPast(c, p, batch, size));
  GE_ASSIGN_OR_RETURN(const Dim total,
                      Checked(n, c.dims().Add(past, steps), "the length with the past"));
  GE_RETURN_IF_ERROR(CheckMaskIndex(c, p.mask, "mask_index", batch, steps, total));
  if (p.bias != 0) {
    GE_RETURN_IF_ERROR(CheckAttentionBias(c, p.bias, batch, heads, steps, total));
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, {batch, steps, sizes.v}));
  if (c.output_count() < 2 || !c.has_output(1)) return {};
  GE_RETURN_IF_ERROR(SameDim(c, size, v_size, "sizes of heads of K and V in 'present'").status());
  return SetTensor(c, 1, dtype, {KnownDim(2), batch, KnownDim(heads), total, size});
}

// `all` is the product with its bias, [B,S,Q+K+V].
inline std::vector<ValueId> AddSelfAttention(Steps* s, const Node& node,
                                             const SelfAttentionPorts& p, ValueId all) {
  const int64_t heads = AttrInt(node, "num_heads", 1), columns = s->Size(all, 2);
  std::vector<int64_t> sizes = AttrInts(node, "qkv_hidden_sizes");
  if (sizes.empty()) sizes = {columns / 3, columns / 3, columns / 3};
  ValueId qkv[3];
  int64_t begin = 0;
  for (size_t i = 0; i < 3; begin += sizes[i], ++i) {
    qkv[i] = AddHeads(s, s->Slice(all, 2, begin, begin + sizes[i]), heads);
  }
  Attended a{qkv[0], qkv[1], qkv[2], s->In(p.mask)};
  if (p.bias != 0) a.bias = s->In(p.bias);
  const ValueId past = s->In(p.past);
  if (past != 0) a.past = s->Size(past, 3);
  std::vector<ValueId> out = s->NoOutputs();
  const DType wanted = s->OutDType(0);
  if (past != 0 || s->Wants(1)) {
    const ValueId present = AddPast(s, past, &a.k, &a.v);
    if (s->Wants(1)) out[1] = s->Cast(present, wanted);
  }
  out[0] = s->Cast(AddAttended(s, node, &a), wanted);
  return out;
}

inline std::vector<AttrDef> SelfAttentionAttrs() {
  return {{"num_heads", AttrKind::kInt, true}, {"unidirectional", AttrKind::kInt, 0},
          {"scale", AttrKind::kFloat, 0.0f},   {"mask_filter_value", AttrKind::kFloat, -10000.0f},
          {"do_rotary", AttrKind::kInt, 0},    {"past_present_share_buffer", AttrKind::kInt, 0}};
}

}  // namespace ge
