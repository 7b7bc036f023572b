// Shape rules shared by many operators. Not an operator, no state. Each answers INVALID_GRAPH with
// the found and wanted value when shapes do not fit.
#pragma once

#include <fmt/format.h>

#include "ge/ops/op.h"

namespace ge {

// The most axes of a tensor made by a rule (the verifier's default limit).
inline constexpr size_t kMaxRank = 16;

// INVALID_GRAPH "Conv: <what>"; `what` names found, wanted and the fix.
Status Bad(const Node& n, std::string_view what);
// "[N,3,224]".
std::string Show(const DimTable& dim_table, std::span<const Dim> dims);
// The result of a DimTable operation, or INVALID_GRAPH when it overflowed.
Result<Dim> Checked(const Node& n, std::optional<Dim> dim, std::string_view what);
// One of two dims that must be equal: the known one, else the first. Refuses known unequal ones.
Result<Dim> SameDim(InferContext& context, Dim left, Dim right, std::string_view what);
// Input `i` must have just this shape as far as is known; an unranked input passes.
Status WantShape(InferContext& context, size_t i, std::string_view name,
                 std::span<const Dim> wanted);
// Output `i` = a tensor of these dims; LIMIT_EXCEEDED above kMaxRank.
Status SetTensor(InferContext& context, size_t i, DType dtype, std::vector<Dim> dims);
// Every axis into [0, rank); refuses duplicates.
Result<std::vector<int64_t>> NormalizeAxes(const Node& n, std::span<const int64_t> axes,
                                           int64_t rank);

// Multidirectional (numpy) broadcast of any number of shapes. A pair of dims that is not provably
// equal gives the larger known one or, when both are symbolic, a fresh symbol.
Result<std::vector<Dim>> BroadcastDims(InferContext& context,
                                       std::span<const std::vector<Dim>> shapes);
// Output 0 = broadcast of all inputs, dtype `out` (kUndefined = that of input 0). Elementwise on
// known small integer contents is done for Add, Sub, Mul, Div by the caller's fold function.
Status InferBroadcast(InferContext& context, DType out = DType::kUndefined);
// Output 0 = type of input 0.
Status InferSame(InferContext& context);
// Brings an axis into [0, rank); `what` names it in the refusal.
Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank, std::string_view what);
// The rank must be at least / exactly so much; `what` names the input.
Status WantRank(const Type& type, size_t at_least, std::string_view what);
// `what` is a format for these arguments; the text is made only where it is needed.
template <typename First, typename... Rest>
Status WantRank(const Type& type, size_t at_least, fmt::format_string<First&, Rest&...> what,
                First& first, Rest&... rest) {
  if (!type.ranked || type.rank() >= at_least) return {};
  return WantRank(type, at_least, std::string_view(fmt::format(what, first, rest...)));
}

// Window arithmetic of Conv, pooling: kernel, strides, pads, dilations, auto_pad of `n`.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;  // pads: begins then ends
  // SAME_*: the output is ceil(in / stride); pads of an axis of unknown size stay 0.
  bool same = false;
};
// spatial = dims after N and C. kernel comes from the attribute or, for Conv, from the weight.
// Fills pads for SAME_* where sizes are known. Checks ranges (rows 32-34 of the taxonomy).
Result<Window> ReadWindow(const Node& n, std::span<const Dim> spatial,
                          const std::vector<int64_t>& kernel);
// floor((in + pads - ((kernel-1)*dilation+1)) / stride) + 1, or ceil for ceil_mode.
Result<Dim> WindowOutput(DimTable& dims, Dim in, const Window& window, size_t axis, bool ceil_mode);

}  // namespace ge
