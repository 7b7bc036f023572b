// Reductions over axes.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result, x. The result has x's dims with 1 in reduced axes; x's last axis in memory is
// contiguous; blocked layouts keep axis 1.
std::unique_ptr<Loop> ReduceLoop(const Simd& simd, Reduce op, const Layout& x, const Dims& axes,
                                 const Layout& result);

}  // namespace ge_engines::cpu::native
