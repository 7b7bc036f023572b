// Casts between numbers.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// One dtype is GE_F32, GE_I32, GE_I64 or GE_BOOL, the other any of these or GE_I8, GE_U8, GE_I16,
// GE_U16, GE_U32 or GE_F64; beside GE_F32 also GE_F16 or GE_BF16.
// Buffers: result, x; n elements. nullptr when there is no such cast.
std::unique_ptr<Loop> CastLoop(const Simd& simd, int32_t from, int32_t to, int64_t n);

}  // namespace ge_engines::cpu::native
