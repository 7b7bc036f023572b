// Loops over numbers that are not float32 alone: casts, relations and integer arithmetic, bit-equal
// to the reference engine's; denormals are zero where the thread's mode says so. Tensors are dense;
// operands are broadcast. They own no tensors; immutable, any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu::native {

// Dtypes below are GE_F32, GE_I32, GE_I64 and GE_BOOL; a cast's also GE_F16 and GE_BF16 where the
// other one is GE_F32.
// Places: result, x; n elements. nullptr when there is no such cast.
std::unique_ptr<Loop> CastLoop(const Simd& simd, int32_t from, int32_t to, int64_t n);

// Places: result (bytes 0 or 1; with as_float 0.0f or 1.0f), x, z of one dtype; kNot reads x alone.
// A relation of order with NaN does not hold.
std::unique_ptr<Loop> RelationLoop(Relation op, int32_t dtype, bool as_float, const Dims& result,
                                   const Dims& x, const Dims& z);

// Places: result, x, slope, which is repeated along x's axes. Source: ONNX PRelu.
std::unique_ptr<Loop> PReluLoop(const Simd& simd, const Dims& x, const Dims& slope);

// Places: result, x, z of GE_I32 or GE_I64. Arithmetic modulo 2^n; Do returns GE_INVALID_ARGUMENT
// on a division by zero. fn: kAdd, kSub, kMul, kDiv, kMax, kMin.
std::unique_ptr<Work> IntegerWork(int32_t dtype, Fn fn, const Dims& result, const Dims& x,
                                  const Dims& z);

}  // namespace ge_engines::cpu::native
