// Repeats a tensor along each axis.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu::native {

// Buffers: result, x. Source: ONNX Tile.
std::unique_ptr<Loop> TileLoop(const Dims& result, const Dims& x, int64_t bytes);

}  // namespace ge_engines::cpu::native
