// Gradients of batch normalization.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: dX, dscale, dB, dY, x, scale, mean, variance; the images lie alike.
std::unique_ptr<Loop> BatchNormGradLoop(const Simd& simd, const Layout& x, float epsilon);

}  // namespace ge_engines::cpu::native
