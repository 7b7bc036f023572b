// PRelu with a slope of any broadcast shape.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result, x, slope, which is repeated along x's axes. Source: ONNX PRelu.
std::unique_ptr<Loop> PReluLoop(const Simd& simd, const Dims& x, const Dims& slope);

}  // namespace ge_engines::cpu::native
