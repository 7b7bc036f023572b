// Arithmetic of numbers other than float32.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/functions.h"

namespace ge_engines::cpu::native {

// Buffers: result, x, z of one dtype, integers or GE_F16 or GE_F64. Integers modulo 2^n; Do returns
// GE_INVALID_ARGUMENT on an integer division by zero. float16 is computed in float32 and rounded.
// fn: kAdd, kSub, kMul, kDiv, kMax, kMin.
std::unique_ptr<Kernel> ArithmeticKernel(const Simd& simd, int32_t dtype, Fn fn, const Dims& result,
                                         const Dims& x, const Dims& dims);

}  // namespace ge_engines::cpu::native
