// Loops that weigh neighbours: resizing by weights of any number of taps, images sampled at the
// places of a grid, the greatest code of a window, rows brought to mean 0, spectra of windows.
// Tensors are dense; they own none; immutable, any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu::native {

// One axis of x [outer, dim, inner] at a time, the last first: the room that what lies between
// needs.
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

// Places: result, x, scale, bias; x of `rows` rows of n elements, `channels` rows an image.
std::unique_ptr<Loop> InstanceNormLoop(const Simd& simd, int64_t rows, int64_t channels, int64_t n,
                                       float eps);

// Windows of `length` samples, `step` apart, times a table of sines: [batch, frames, bins, 2].
struct SpectrumPlan {
  int64_t batch = 1, samples = 1, frames = 1, bins = 1, step = 1, length = 1;
  bool window = false;
  int threads = 1;
  uint64_t table_floats() const { return static_cast<uint64_t>(2 * bins * length); }
  uint64_t room_floats() const { return static_cast<uint64_t>(kRows * length); }  // of a thread
  static constexpr int64_t kRows = 8;  // frames of one product
};
// Places: result, samples, window or samples, workspace. Source: ONNX STFT.
std::unique_ptr<Loop> SpectrumLoop(const Simd& simd, const SpectrumPlan& p);

}  // namespace ge_engines::cpu::native
