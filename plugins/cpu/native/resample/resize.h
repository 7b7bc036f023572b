// Resizes images: repeated pixels, one or two neighbours an axis, or weighted sums.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/resample/resize.h"

namespace ge_engines::cpu::native {

// Buffers: result, x. result[i] = x[i / factor]; both dense or both blocked alike.
std::unique_ptr<Loop> RepeatLoop(const Simd& simd, const Layout& x, const Layout& result,
                                 const Dims& factor);

// Sources of the result's elements along one axis: x[from[i]] (nearest), or x[from[i]] + t[i] *
// (x[next[i]] - x[from[i]]) (linear); next[i] is from[i] or a neighbour. All indices lie in x's
// axis: the maker checks it and throws std::invalid_argument.
struct ResizeAxis {
  std::vector<int32_t> from, next;
  std::vector<float> t;  // next and t are empty for nearest; all are empty for an unchanged axis
};

// Buffers: result, x. Dense, any rank; one entry of `axes` for each axis of x; at most 4 axes are
// linear (more throw std::invalid_argument).
std::unique_ptr<Loop> ResizeLoop(const Simd& simd, const Dims& x, std::vector<ResizeAxis> axes);

// Passes over x [outer, dim, inner], one axis each, the last axis first; two rooms hold the results
// between passes.
struct WeighPlan {
  struct Pass {
    int64_t outer, dim, inner;  // of what is read
    WeighedAxis axis;
  };
  std::vector<Pass> passes;
  WeighPlan(const Dims& x, const WeighSpec& spec);
  uint64_t room_floats() const;  // of two rooms together
};

// Buffers: result, x, room.
std::unique_ptr<Loop> WeighLoop(const Simd& simd, WeighPlan plan);

}  // namespace ge_engines::cpu::native
