// Weights of 2, 4 or 8 bits in blocks (MatMulNBits) as panels: memory holds them as small as the
// model does. Layout of a panel: kit/simd/nbits.cc. Pure; any thread.
#pragma once

#include <string>

#include "plugins/cpu/native/matmul/panels.h"

namespace ge_engines::cpu::native {

// from: B [n][blocks][bytes], scales [n][blocks] and, where there are any, zero points, as floats
// or packed like a row of B. to: plan.weight_floats().
void PackNBits(const PanelPlan& plan, const void* const* from, void* to);
// Equal where PackNBits writes the same.
std::string NBitsKey(const PanelPlan& plan);

}  // namespace ge_engines::cpu::native
