// Surrounds a tensor with copies of one element.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu::native {

// Buffers: result, x, and the filling element if `filled`, else zeros fill.
std::unique_ptr<Loop> FillPadLoop(const Dims& result, const Dims& x, const Dims& before,
                                  int64_t bytes, bool filled);

}  // namespace ge_engines::cpu::native
