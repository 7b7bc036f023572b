// Normalizes rows by their mean and variance, or by the root of their mean square.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/reduce/layer_normalization.h"

namespace ge_engines::cpu::native {

// Buffers: result, x, gamma or x, beta or x.
std::unique_ptr<Loop> LayerNormLoop(const Simd& simd, int64_t rows, int64_t n,
                                    const LayerNormSpec& spec, bool gamma, bool beta);

}  // namespace ge_engines::cpu::native
