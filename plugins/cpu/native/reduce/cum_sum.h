// Running sums along an axis.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/axis_cut.h"
#include "plugins/units/reduce/cum_sum.h"

namespace ge_engines::cpu::native {

// Dtypes below are GE_F32, GE_I32 and GE_I64.
// Buffers: result, x. Floats are summed up in double.
std::unique_ptr<Loop> CumSumLoop(int32_t dtype, const AxisCut& cut, const CumSumSpec& spec);

}  // namespace ge_engines::cpu::native
