// Normalizes each channel of an image by its mean and variance.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result, x, scale, bias; x of `rows` rows of n elements, `channels` rows an image.
std::unique_ptr<Loop> InstanceNormLoop(const Simd& simd, int64_t rows, int64_t channels, int64_t n,
                                       float eps);

}  // namespace ge_engines::cpu::native
