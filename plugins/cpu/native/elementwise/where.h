// Selects from two tensors by a condition.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result, condition (bytes), x, z, of elements of 1, 2, 4 or 8 bytes (`size`); dense, and
// broadcast to the result's dims. Source: ONNX Where.
std::unique_ptr<Loop> WhereLoop(const Simd& simd, int size, const Dims& result,
                                const Dims& condition, const Dims& x, const Dims& dims);

}  // namespace ge_engines::cpu::native
