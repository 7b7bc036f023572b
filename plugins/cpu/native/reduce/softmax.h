// Softmax along one axis.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result, x. Dense; softmax of `n` elements `inner` apart, `outer` times.
std::unique_ptr<Loop> SoftmaxLoop(const Simd& simd, int64_t outer, int64_t n, int64_t inner);

}  // namespace ge_engines::cpu::native
