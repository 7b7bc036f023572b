// Comparisons of float32 by vectors.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result (bytes 0 or 1), x, z. Dense f32 of n elements each; z is one element where
// `scalar`. A comparison with NaN is 0.
std::unique_ptr<Loop> CompareLoop(const Simd& simd, Compare op, int64_t n, bool scalar);

}  // namespace ge_engines::cpu::native
