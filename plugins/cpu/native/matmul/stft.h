// Spectra of sample windows, as products with a table of sines.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Windows of `length` samples, `step` apart, times a table of sines: [batch, frames, bins, 2].
struct SpectrumPlan {
  int64_t batch = 1, samples = 1, frames = 1, bins = 1, step = 1, length = 1;
  bool window = false;
  int threads = 1;
  uint64_t table_floats() const { return static_cast<uint64_t>(2 * bins * length); }
  uint64_t room_floats() const { return static_cast<uint64_t>(kRows * length); }  // of a thread
  static constexpr int64_t kRows = 8;  // frames of one product
};

// Buffers: result, samples, window or samples, workspace. Source: ONNX STFT.
std::unique_ptr<Loop> SpectrumLoop(const Simd& simd, const SpectrumPlan& plan);

}  // namespace ge_engines::cpu::native
