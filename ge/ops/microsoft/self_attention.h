// Attention and QAttention: one product computes Q, K and V from the input, and their heads attend
// to each other. The two differ in the order of inputs and in the product. Not an operator. Any
// thread may call.
#pragma once

#include "ge/ops/microsoft/attention.h"

namespace ge {

// Positions of inputs; 0 = the operator has none.
struct SelfAttentionPorts {
  size_t mask, past, bias;  // bias: of the scores
};

// Hidden sizes of Q, K and V together.
struct QkvSizes {
  Dim q, k, v;
};

inline Result<QkvSizes> ReadQkvSizes(InferContext& context, Dim all) {
  const std::vector<int64_t>& given = AttrInts(context.node(), "qkv_hidden_sizes");
  if (given.empty()) {
    if (all.known() && all.value % 3 != 0) {
      return Bad(context.node(),
                 fmt::format("input 1 has {} columns, wanted a multiple of 3 (Q, K and "
                             "V), or attribute 'qkv_hidden_sizes'",
                             all.value));
    }
    GE_ASSIGN_OR_RETURN(const Dim third,
                        Checked(context.node(), context.dims().FloorDiv(all, KnownDim(3)),
                                "a third of the columns"));
    return QkvSizes{third, third, third};
  }
  // Each is bounded before they are added.
  const bool three = given.size() == 3 && given[0] == given[1];
  bool fits = three;
  for (int64_t size : given) fits = fits && size > 0 && size < (int64_t{1} << 40);
  if (!fits || (all.known() && given[0] + given[1] + given[2] != all.value)) {
    return Bad(context.node(),
               fmt::format("attribute 'qkv_hidden_sizes' is [{}], wanted three sizes, "
                           "the first two equal, whose sum is the columns of input 1, {}",
                           fmt::join(given, ","), context.dims().ToString(all)));
  }
  return QkvSizes{KnownDim(given[0]), KnownDim(given[1]), KnownDim(given[2])};
}

// The length of the past; checks its shape and that of the bias of the product.
inline Result<Dim> CheckSelfAttentionPast(InferContext& context, const SelfAttentionPorts& ports,
                                          Dim batch, Dim size) {
  if (!HasInput(context, ports.past)) return KnownDim(0);
  const Type& past = context.input_type(ports.past);
  if (!past.ranked || past.rank() != 5) {
    GE_RETURN_IF_ERROR(WantRankOf(context, ports.past, "past", 5, 5));
    return context.FreshDim("past", false);
  }
  const Dim length = past.dims[3];
  const Dim wanted[] = {KnownDim(2), batch, KnownDim(AttrInt(context.node(), "num_heads", 1)),
                        length, size};
  GE_RETURN_IF_ERROR(WantShape(context, ports.past, "past", wanted));
  return length;
}

inline Status InferSelfAttention(InferContext& context, const SelfAttentionPorts& ports,
                                 DType dtype) {
  const Node& n = context.node();
  GE_RETURN_IF_ERROR(CheckAttentionMsAttrs(n));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "do_rotary", 0));
  GE_RETURN_IF_ERROR(RefuseAttr(n, "past_present_share_buffer", 0));
  GE_RETURN_IF_ERROR(WantRankOf(context, 0, "input", 3, 3));
  GE_RETURN_IF_ERROR(WantRankOf(context, 1, "weights", 2, 2));
  const Type &x = context.input_type(0), &w = context.input_type(1);
  if (!x.ranked || !w.ranked) {
    for (size_t o = 0; o < context.output_count(); ++o) {
      if (context.has_output(o)) context.SetOutput(o, UnrankedTensor(dtype));
    }
    return {};
  }
  GE_RETURN_IF_ERROR(
      SameDim(context, x.dims[2], w.dims[0], "input's last and weights' first axis").status());
  GE_RETURN_IF_ERROR(WantVector(context, 2, "bias", w.dims[1]));
  GE_ASSIGN_OR_RETURN(const QkvSizes sizes, ReadQkvSizes(context, w.dims[1]));
  const int64_t heads = AttrInt(n, "num_heads", 1);
  GE_ASSIGN_OR_RETURN(const Dim size, HeadSize(context, sizes.k, heads, "K"));
  GE_ASSIGN_OR_RETURN(const Dim v_size, HeadSize(context, sizes.v, heads, "V"));
  const Dim batch = x.dims[0], steps = x.dims[1];
  GE_ASSIGN_OR_RETURN(const Dim past, CheckSelfAttentionPast(context, ports, batch, size));
  GE_ASSIGN_OR_RETURN(const Dim total,
                      Checked(n, context.dims().Add(past, steps), "the length with the past"));
  GE_RETURN_IF_ERROR(CheckMaskIndex(context, ports.mask, "mask_index", batch, steps, total));
  if (ports.bias != 0) {
    GE_RETURN_IF_ERROR(CheckAttentionBias(context, ports.bias, batch, heads, steps, total));
  }
  GE_RETURN_IF_ERROR(SetTensor(context, 0, dtype, {batch, steps, sizes.v}));
  if (context.output_count() < 2 || !context.has_output(1)) return {};
  GE_RETURN_IF_ERROR(
      SameDim(context, size, v_size, "sizes of heads of K and V in 'present'").status());
  return SetTensor(context, 1, dtype, {KnownDim(2), batch, KnownDim(heads), total, size});
}

// `all` is the product with its bias, [B,S,Q+K+V].
inline std::vector<ValueId> AddSelfAttention(Steps* steps, const Node& node,
                                             const SelfAttentionPorts& ports, ValueId all) {
  const int64_t heads = AttrInt(node, "num_heads", 1), columns = steps->Size(all, 2);
  std::vector<int64_t> sizes = AttrInts(node, "qkv_hidden_sizes");
  if (sizes.empty()) sizes = {columns / 3, columns / 3, columns / 3};
  ValueId qkv[3];
  int64_t begin = 0;
  for (size_t i = 0; i < 3; begin += sizes[i], ++i) {
    qkv[i] = AddHeads(steps, steps->Slice(all, 2, begin, begin + sizes[i]), heads);
  }
  Attended a{qkv[0], qkv[1], qkv[2], steps->In(ports.mask)};
  if (ports.bias != 0) a.bias = steps->In(ports.bias);
  const ValueId past = steps->In(ports.past);
  if (past != 0) a.past = steps->Size(past, 3);
  std::vector<ValueId> out = steps->NoOutputs();
  const DType wanted = steps->OutDType(0);
  if (past != 0 || steps->Wants(1)) {
    const ValueId present = AddPast(steps, past, &a.k, &a.v);
    if (steps->Wants(1)) out[1] = steps->Cast(present, wanted);
  }
  out[0] = steps->Cast(AddAttended(steps, node, &a), wanted);
  return out;
}

inline std::vector<AttrDef> SelfAttentionAttrs() {
  return {{"num_heads", AttrKind::kInt, true}, {"unidirectional", AttrKind::kInt, 0},
          {"scale", AttrKind::kFloat, 0.0f},   {"mask_filter_value", AttrKind::kFloat, -10000.0f},
          {"do_rotary", AttrKind::kInt, 0},    {"past_present_share_buffer", AttrKind::kInt, 0}};
}

}  // namespace ge
