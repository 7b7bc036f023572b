// Samples images at the points of a grid.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/resample/grid_sample.h"

namespace ge_engines::cpu::native {

// Buffers: result [N, C, h, w], x [N, C, H, W], grid [N, h, w, 2]. Source: ONNX GridSample.
std::unique_ptr<Loop> GridLoop(const GridSpec& spec, const Dims& x, const Dims& result);

}  // namespace ge_engines::cpu::native
