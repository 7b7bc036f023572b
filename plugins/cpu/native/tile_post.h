// What follows a work that makes its result in tiles, done while a tile is in a cache. A value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_native {

using namespace ge_cpu;

// A binary one has an operand of the result's dims and layout, a place of its own in the order of
// the list behind the work's other places.
struct TilePost {
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;
  bool binary = false;
};
inline size_t Operands(const std::vector<TilePost>& posts) {
  return static_cast<size_t>(
      std::count_if(posts.begin(), posts.end(), [](const TilePost& q) { return q.binary; }));
}

}  // namespace ge_native
