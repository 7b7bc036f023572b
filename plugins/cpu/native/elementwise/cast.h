// Casts between numbers.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Dtypes below are GE_F32, GE_I32, GE_I64 and GE_BOOL; a cast's also GE_F16 and GE_BF16 where the
// other one is GE_F32.
// Buffers: result, x; n elements. nullptr when there is no such cast.
std::unique_ptr<Loop> CastLoop(const Simd& simd, int32_t from, int32_t to, int64_t n);

}  // namespace ge_engines::cpu::native
