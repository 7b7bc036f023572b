// Steps of optimizers.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/training/optimizer_step.h"

namespace ge_engines::cpu::native {

// Buffers: new weight, new slots, weight, slots, gradient, the scalars. Dense, n elements each; new
// tensors may overwrite old ones.
std::unique_ptr<Loop> StepLoop(const Simd& simd, const StepSpec& spec, int64_t n);

}  // namespace ge_engines::cpu::native
