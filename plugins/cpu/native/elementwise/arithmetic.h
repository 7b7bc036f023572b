// Arithmetic of numbers other than float32.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/functions.h"

namespace ge_engines::cpu::native {

// Buffers: result, then the operands, of one dtype: two of GE_F16 or GE_F64, any number of integers
// from two on. Integers modulo 2^n; Do returns GE_INVALID_ARGUMENT on an integer division by zero.
// float16 is computed in float32 and rounded. fn: kAdd, kSub, kMul, kDiv, kMax, kMin; of integers
// kMod, kFmod, kAnd, kOr, kXor, kShiftLeft and kShiftRight, too.
std::unique_ptr<Kernel> ArithmeticKernel(const Simd& simd, int32_t dtype, Fn fn, const Dims& result,
                                         const std::vector<Dims>& operands);

}  // namespace ge_engines::cpu::native
