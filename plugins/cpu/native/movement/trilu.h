// Triangles of matrices.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/movement/trilu.h"

namespace ge_engines::cpu::native {

// Buffers: result, x. Keeps the matrices' elements on one side of a diagonal (Trilu), else zeros.
std::unique_ptr<Loop> TriangleLoop(const Dims& x, const TriangleSpec& spec, int64_t bytes);

}  // namespace ge_engines::cpu::native
