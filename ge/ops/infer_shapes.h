// Shape rules that many operators share. Not an operator, no state.
// Each answers INVALID_GRAPH with the found and wanted value when shapes do not fit.
#pragma once

#include "ge/ops/op.h"

namespace ge {

// Multidirectional (numpy) broadcast of any number of shapes. A pair of dims that is not provably
// equal gives the larger known one or, when both are symbolic, a fresh symbol.
Result<std::vector<Dim>> BroadcastDims(InferContext& c, std::span<const std::vector<Dim>> shapes);
// Output 0 = broadcast of all inputs, dtype `out` (kUndefined = that of input 0). Elementwise on
// known small integer contents is done for Add, Sub, Mul, Div by the caller's fold function.
Status InferBroadcast(InferContext& c, DType out = DType::kUndefined);
// Output 0 = type of input 0.
Status InferSame(InferContext& c);
// Brings an axis into [0, rank); `what` names it in the refusal.
Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank, std::string_view what);
// The rank must be at least / exactly so much; `what` names the input.
Status WantRank(const Type& t, size_t at_least, std::string_view what);

// Window arithmetic of Conv, pooling: kernel, strides, pads, dilations, auto_pad of `n`.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;  // pads: begins then ends
};
// spatial = dims after N and C. kernel comes from the attribute or, for Conv, from the weight.
// Known sizes are needed for SAME_*; fills pads for it. Checks ranges (rows 32-34 of the taxonomy).
Result<Window> ReadWindow(const Node& n, std::span<const Dim> spatial,
                          const std::vector<int64_t>& kernel);
// floor((in + pads - ((kernel-1)*dilation+1)) / stride) + 1, or ceil for ceil_mode.
Result<Dim> WindowOutput(DimTable& d, Dim in, const Window& w, size_t axis, bool ceil_mode);

}  // namespace ge
