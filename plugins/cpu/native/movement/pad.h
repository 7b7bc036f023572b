// A tensor with one element around it.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu::native {

// Buffers: result, x, and where `filled` one element, else zeros.
std::unique_ptr<Loop> FillPadLoop(const Dims& result, const Dims& x, const Dims& before,
                                  int64_t bytes, bool filled);

}  // namespace ge_engines::cpu::native
