// RoiAlign, the mean of bilinear samples, on images with a pixel's channels side by side: each bin
// is a weighted sum of pixels, as long as the channels. Immutable; any number of threads may run
// one.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/resample/roi_align.h"

namespace ge_engines::cpu::native {

// Channels are padded to whole groups of this many: a vector load of any set may read them.
inline constexpr int64_t kRoiChannels = 16;

// Workspace of one thread, in floats.
uint64_t RoiAlignFloats(const RoiAlignSpec& spec);
// Buffers: result [R, C, h, w], x [N, H, W, C], rois [R, 4], batch indices [R] of int64, workspace.
// A region of no image, or of more than 2^24 samples a bin, makes Do return GE_INVALID_ARGUMENT
// with the result untouched. C is a multiple of kRoiChannels. Source: ONNX RoiAlign, mode avg.
std::unique_ptr<Kernel> RoiAlignKernel(const Simd& simd, const RoiAlignSpec& spec, int threads);

}  // namespace ge_engines::cpu::native
