// Shapes and effort shared by MatMul, MatMulInteger and QLinearMatMul. Not an operator. Any thread
// may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

// Output 0, of dtype `out`: the product of input 0 and input `ib`.
inline Status InferMatrixProduct(InferContext& context, size_t ib, DType out,
                                 const char* a_name = "A", const char* b_name = "B") {
  const Type& a = context.input_type(0);
  const Type& b = context.input_type(ib);
  if (!a.ranked || !b.ranked) {
    context.SetOutput(0, UnrankedTensor(out));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(a, 1, "{}: input '{}'", context.node().op, a_name));
  GE_RETURN_IF_ERROR(WantRank(b, 1, "{}: input '{}'", context.node().op, b_name));
  const Dim inner_a = a.dims.back();
  const Dim inner_b = b.rank() == 1 ? b.dims[0] : b.dims[b.rank() - 2];
  if (inner_a.known() && inner_b.known() && inner_a != inner_b) {
    return Bad(context.node(),
               fmt::format("inner sizes {} and {} of shapes {} and {} differ, wanted "
                           "equal; transpose or reshape one",
                           inner_a.value, inner_b.value, Show(context.dims(), a.dims),
                           Show(context.dims(), b.dims)));
  }
  std::vector<std::vector<Dim>> batches(2);
  if (a.rank() > 2) batches[0].assign(a.dims.begin(), a.dims.end() - 2);
  if (b.rank() > 2) batches[1].assign(b.dims.begin(), b.dims.end() - 2);
  GE_ASSIGN_OR_RETURN(std::vector<Dim> dims, BroadcastDims(context, batches));
  if (a.rank() > 1) dims.push_back(a.dims[a.rank() - 2]);
  if (b.rank() > 1) dims.push_back(b.dims.back());
  return SetTensor(context, 0, out, std::move(dims));
}

// A scale or zero point of a side of the product: one element, or one for each row of the left side
// or column of the right one, as a vector or in the side's own rank.
inline Status WantOneOrLines(InferContext& context, size_t i, std::string_view name,
                             const Type& side, bool rows) {
  const Type& t = context.input_type(i);
  if (!t.ranked || t.rank() == 0 || !side.ranked || side.rank() == 0) return {};
  const auto may_be = [](Dim a, Dim b) { return !a.known() || !b.known() || a == b; };
  if (t.rank() == 1 && may_be(t.dims[0], KnownDim(1))) return {};
  std::vector<Dim> wanted = side.dims;
  if (side.rank() > 1) {
    const size_t inner = side.rank() - (rows ? 1 : 2);
    const Dim lines = side.dims[side.rank() - (rows ? 2 : 1)];
    if (t.rank() == 1 && may_be(t.dims[0], lines)) return {};
    wanted[inner] = KnownDim(1);
    bool fits = t.rank() == wanted.size();
    for (size_t d = 0; fits && d < wanted.size(); ++d) fits = may_be(t.dims[d], wanted[d]);
    if (fits) return {};
  } else {
    wanted = {KnownDim(1)};
  }
  return Bad(context.node(),
             fmt::format("input '{}' has shape {}, wanted one element or one a {}: {}", name,
                         Show(context.dims(), t.dims), rows ? "row" : "column",
                         Show(context.dims(), wanted)));
}

inline Work EffortMatrixProduct(const Node&, std::span<const Type> in, std::span<const Type> out) {
  const bool known = !out.empty() && !in.empty() && in[0].is_static() && in[0].rank() > 0;
  const double inner = known ? static_cast<double>(in[0].dims.back().value) : 0;
  return {known ? 2 * inner * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

}  // namespace ge
