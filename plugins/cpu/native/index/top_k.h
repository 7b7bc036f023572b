// The greatest or least elements along an axis, sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/axis_cut.h"

namespace ge_engines::cpu::native {

struct TopKPlan {
  int64_t taken = 0;
  bool largest = true, values = true, places = true;  // what is wanted
  int threads = 1;
};

// Workspace of one thread, in floats, for elements of so many bytes.
uint64_t TopKFloats(const AxisCut& cut, size_t bytes);

// Buffers: values, positions (int64), x, k, workspace; unused outputs may be any buffer. Sorts
// `taken` elements of each row; the first of equal ones wins; NaN is above every number. A k other
// than `taken` is GE_INVALID_ARGUMENT.
std::unique_ptr<Kernel> TopKKernel(int32_t dtype, const AxisCut& cut, const TopKPlan& kplan);

}  // namespace ge_engines::cpu::native
