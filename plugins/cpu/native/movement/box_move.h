// Copies boxes of elements of any width into another order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// A box: `size` elements along each axis, `src` and `dst` elements apart, from offset `from` of
// source `place` to offset `to` of the result. A source may stand still along an axis, or go back.
struct MoveBox {
  int place = 1;
  int64_t from = 0, to = 0;
  Dims size, src, dst;
};

// Buffers: result, then sources as the boxes name them; elements of 1, 2, 4 or 8 bytes.
std::unique_ptr<Loop> MoveLoop(const Simd& simd, const std::vector<MoveBox>& boxes, int64_t bytes);

}  // namespace ge_engines::cpu::native
