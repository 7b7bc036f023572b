// Post-ops of a kernel that makes its result in tiles, applied while a tile is in a cache. A value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// A binary post-op has an operand of the result's dims and layout. Its buffer follows the kernel's
// other buffers, in the order of the list.
struct TilePostOp {
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;
  bool binary = false;
};
inline size_t Operands(const std::vector<TilePostOp>& post_ops) {
  return static_cast<size_t>(std::count_if(post_ops.begin(), post_ops.end(),
                                           [](const TilePostOp& q) { return q.binary; }));
}

// Applies post_ops to m rows of n floats from y on, ldy apart. p: the kernel's buffers; the first
// is the result, those from `operands` on are the post-ops' operands.
inline void FinishTile(const Simd& simd, const std::vector<TilePostOp>& post_ops, float* const* p,
                       size_t operands, float* y, int64_t m, int64_t n, int64_t ldy) {
  if (post_ops.empty()) return;
  const int64_t at = y - p[0];
  if (n == ldy) {
    n *= m;
    m = 1;  // whole rows follow each other
  }
  for (int64_t r = 0; r < m; ++r) {
    float* const row = y + r * ldy;
    size_t operand = operands;
    for (const TilePostOp& q : post_ops) {
      if (q.binary) {
        simd.binary(q.fn, row, p[operand++] + at + r * ldy, row, n);
      } else {
        simd.unary(q.fn, q.a, q.b, row, row, n);
      }
    }
  }
}

}  // namespace ge_engines::cpu::native
