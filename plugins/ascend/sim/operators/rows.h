// Rows: an axis of a dense tensor among those outside and inside it, and sums that keep their
// digits. Pure.
#pragma once

#include <cstdint>

#include "plugins/ascend/sim/operators/view.h"

namespace ge_engines::ascend::sim {

struct Rows {
  int64_t outer = 1, size = 1, inner = 1;

  Rows(const Dims& dims, size_t axis) {
    for (size_t k = 0; k < dims.size(); ++k) {
      (k < axis ? outer : k == axis ? size : inner) *= dims[k];
    }
  }
  int64_t count() const { return outer * inner; }
  bool empty() const { return count() * size == 0; }
  // The place of a row's first element; its others are `inner` apart.
  int64_t First(int64_t row) const { return row / inner * inner * size + row % inner; }
};

// Sums of sixty-four at a time are added up.
template <class Value>
float SumOf(int64_t count, const Value& value) {
  float sum = 0;
  for (int64_t begin = 0; begin < count; begin += 64) {
    float part = 0;
    for (int64_t i = begin, end = begin + 64 < count ? begin + 64 : count; i < end; ++i) {
      part += value(i);
    }
    sum += part;
  }
  return sum;
}

}  // namespace ge_engines::ascend::sim
