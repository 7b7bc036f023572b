// Shared by the quantizing kernels: an element's scale, rounding to the precision of a division,
// and clamping to the range of a quantized dtype. Pure.
#pragma once

#include <algorithm>

#include "plugins/ref/kernels/cast.h"

namespace ref {

// The tensor as [outer, dim, inner]; element (o, d, i) has the scale at
// o * outer_step + d / block * dim_step + i * inner_step.
struct QuantizeGrid {
  int64_t dim = 1, inner = 1, block = 1;
  int64_t outer_step = 0, dim_step = 0, inner_step = 0;
};

// Inputs 0, 1 and 2: the tensor, its scale and its zero point.
inline bool PlanQuantizeGrid(const NodeView& n, QuantizeGrid* grid, Why* why) {
  const TensorType x = n.in(0), scale = n.in(1);
  if (n.has_in(2) && n.in(2).count != scale.count) {
    return why->Say(GE_WHY_SHAPE, "%lld scales, but %lld zero points",
                    static_cast<long long>(scale.count), static_cast<long long>(n.in(2).count));
  }
  if (scale.count == 1) return true;
  const int64_t block = n.Int("block_size");
  const int64_t axis = x.rank == 1 ? 0 : NormalAxis(n.Int("axis"), x.rank);
  if (axis < 0 || block < 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis or block_size is out of range");
  }
  grid->dim = x.dims[axis];
  grid->inner = PartCount(x.shape(), static_cast<size_t>(axis) + 1, static_cast<size_t>(x.rank));
  if (block == 0) {
    grid->dim_step = 1;
    return (scale.rank == 1 && scale.dims[0] == grid->dim) ||
           why->Say(GE_WHY_SHAPE, "the scale is not one element an index of axis %lld",
                    static_cast<long long>(axis));
  }
  const int64_t blocks = grid->dim / block + (grid->dim % block != 0 ? 1 : 0);
  bool same = scale.rank == x.rank;
  for (int d = 0; same && d < x.rank; ++d) {
    same = scale.dims[d] == (d == axis ? blocks : x.dims[d]);
  }
  grid->block = block;
  grid->outer_step = blocks * grid->inner;
  grid->dim_step = grid->inner;
  grid->inner_step = 1;
  return same || why->Say(GE_WHY_SHAPE, "the scale is not one element a block");
}

// Counts the elements up in row-major order.
class GridWalk {
 public:
  explicit GridWalk(const QuantizeGrid& grid) : g_(grid) {}
  int64_t scale() const { return outer_ + d_ / g_.block * g_.dim_step + i_ * g_.inner_step; }
  void Next() {
    if (++i_ < g_.inner) return;
    i_ = 0;
    if (++d_ < g_.dim) return;
    d_ = 0;
    outer_ += g_.outer_step;
  }

 private:
  const QuantizeGrid& g_;
  int64_t outer_ = 0, d_ = 0, i_ = 0;
};

// Rounds value to a float dtype.
inline double RoundToFloat(int32_t dtype, double value) {
  switch (dtype) {
    case GE_F64:
      return value;
    case GE_F16:
      return FloatOf(HalfOf(value));
    case GE_BF16:
      return FloatOf(BFloatOf(value));
    default:
      return static_cast<float>(value);
  }
}

// The range of a quantized integer dtype; empty for floats.
struct WholeRange {
  int64_t least = 0, most = 0;
  bool whole() const { return most != 0; }
  // Rounds to nearest, ties to even, and clamps; NaN becomes the least.
  int64_t Nearest(double value, double zero) const {
    const double r = std::nearbyint(value) + zero;
    if (r >= static_cast<double>(most)) return most;
    return r > static_cast<double>(least) ? static_cast<int64_t>(r) : least;
  }
};
inline WholeRange RangeOf(int32_t dtype) {
  const bool is_signed = dtype == GE_I2 || dtype == GE_I4 || dtype == GE_I8 || dtype == GE_I16;
  const bool is_unsigned = dtype == GE_U2 || dtype == GE_U4 || dtype == GE_U8 || dtype == GE_U16;
  if (!is_signed && !is_unsigned) return {};
  const int64_t codes = int64_t{1} << ge::plugin::ElementBits(dtype);
  return is_signed ? WholeRange{-codes / 2, codes / 2 - 1} : WholeRange{0, codes - 1};
}

}  // namespace ref
