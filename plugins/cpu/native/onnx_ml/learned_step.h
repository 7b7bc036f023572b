// The step of a learned model. Used by one thread; throws.
#pragma once

#include <memory>
#include <string>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"

namespace ge_engines::cpu::native {

// Adds a step with buffers {scores, labels or the scores again, x, workspace}.
void AddLearned(NativeBuilder* builder, const Unit& unit, const std::string& label,
                std::unique_ptr<Kernel> kernel, uint64_t floats, int threads);

}  // namespace ge_engines::cpu::native
