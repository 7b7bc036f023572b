// Triangles of matrices.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/movement/trilu.h"

namespace ge_engines::cpu::native {

// Buffers: result, x. Of dense matrices the elements from a diagonal on (Trilu), zeros elsewhere.
std::unique_ptr<Loop> TriangleLoop(const Dims& x, const TriangleSpec& spec, int64_t bytes);

}  // namespace ge_engines::cpu::native
