// Positions of the greatest or least element along an axis.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/axis_cut.h"
#include "plugins/units/reduce/arg_max.h"

namespace ge_engines::cpu::native {

// Buffers: result (int64), x. NaN is beyond every number; of equal ones the first, or the last.
std::unique_ptr<Loop> ArgLoop(int32_t dtype, const AxisCut& cut, const ArgSpec& spec);

}  // namespace ge_engines::cpu::native
