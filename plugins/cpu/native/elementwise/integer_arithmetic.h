// Arithmetic of int32 and int64.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/functions.h"

namespace ge_engines::cpu::native {

// Buffers: result, x, z of GE_I32 or GE_I64. Arithmetic modulo 2^n; Do returns GE_INVALID_ARGUMENT
// on a division by zero. fn: kAdd, kSub, kMul, kDiv, kMax, kMin.
std::unique_ptr<Kernel> IntegerArithmeticKernel(int32_t dtype, Fn fn, const Dims& result,
                                                const Dims& x, const Dims& dims);

}  // namespace ge_engines::cpu::native
