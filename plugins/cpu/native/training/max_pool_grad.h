// The gradient of MaxPool.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/training/max_pool_grad.h"

namespace ge_engines::cpu::native {

// Buffers: dX, dY, x. Dense.
std::unique_ptr<Loop> PoolGradLoop(const Simd& simd, const PoolGradSpec& spec);

}  // namespace ge_engines::cpu::native
