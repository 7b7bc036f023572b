// Mean and variance of each channel.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: mean, variance, x.
std::unique_ptr<Loop> MomentsLoop(const Simd& simd, const Layout& x);

}  // namespace ge_engines::cpu::native
