// Strides of tensors that meet along common axes, and those axes with as few of them as will do.
// Plain values.
#pragma once

#include <vector>

#include "plugins/gpu/kernels/index.h"
#include "plugins/units/layout.h"

namespace ge_engines::gpu {

// Strides of x, dense, along the axes of y: 0 where it is repeated.
Dims BroadcastStrides(const Dims& x, const Dims& y);

// Axes of one element go, and neighbours become one where all tensors allow it. `strides`: of each
// tensor along `dims`.
void MergeAxes(Dims* dims, std::vector<Dims>* strides);

// The axes of x that are reduced, and the others.
struct AxesApart {
  AxesApart(const Dims& x, const Dims& reduced);
  Axes outside, inside;
  Strides out_strides, in_strides;
  int64_t rows = 1, length = 1;  // elements outside and inside
  bool beside = false;           // a row's elements lie side by side
  bool rows_apart = false;       // and rows begin at multiples of its length
  bool rows_dense = false;       // and they lie one behind the other

  // Rows one behind the other.
  static AxesApart Rows(int64_t rows, int64_t length);
  // Long rows, of which there are few, are reduced in parts first: how many of each; 1: at once.
  int64_t Parts() const;
};

// For kernels. At most kMostAxes axes.
Axes AxesOf(const Dims& dims);
Strides StridesFor(const Dims& strides);

}  // namespace ge_engines::gpu
