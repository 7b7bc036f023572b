// A tensor cut at an axis, and loops of one dtype. Plain values; any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/units/layout.h"

namespace ge_engines::cpu::native {

// [outer][dim][inner] of a tensor cut at an axis.
struct AxisCut {
  int64_t outer = 1, dim = 1, inner = 1;
  AxisCut(const Dims& dims, int axis) {
    for (size_t k = 0; k < dims.size(); ++k) {
      int64_t& to = k < static_cast<size_t>(axis)    ? outer
                    : k == static_cast<size_t>(axis) ? dim
                                                     : inner;
      to *= dims[k];
    }
  }
};

// make(T()) for the type of a dtype.
template <class Base, class F>
std::unique_ptr<Base> ForNumber(int32_t dtype, F make) {
  if (dtype == GE_F32) return make(float());
  if (dtype == GE_F64) return make(double());
  if (dtype == GE_I32) return make(int32_t());
  return make(int64_t());
}

}  // namespace ge_engines::cpu::native
