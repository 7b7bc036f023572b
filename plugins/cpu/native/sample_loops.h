// Loops that weigh neighbours: resizing by weights of any number of taps, images sampled at the
// places of a grid, and the greatest code of a window. Tensors are dense; they own none; immutable,
// any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_native {

using namespace ge_cpu;

// One axis of x [outer, dim, inner] at a time, the last first: the room that what lies between needs.
struct WeighPlan {
  struct Pass {
    int64_t outer, dim, inner;  // of what is read
    WeighedAxis axis;
  };
  std::vector<Pass> passes;
  WeighPlan(const Dims& x, const WeighSpec& s);
  uint64_t room_floats() const;  // of two rooms together
};
// Places: result, x, room.
std::unique_ptr<Loop> WeighLoop(const Simd& simd, WeighPlan plan);

// Places: result [N, C, h, w], x [N, C, H, W], grid [N, h, w, 2]. Source: ONNX GridSample.
std::unique_ptr<Loop> GridLoop(const GridSpec& s, const Dims& x, const Dims& result);

// Places: result, x; 8-bit codes, 1 or 2 spatial axes. A window of padding alone gives the least.
std::unique_ptr<Loop> CodePoolLoop(const PoolSpec& s, bool is_signed);

}  // namespace ge_native
