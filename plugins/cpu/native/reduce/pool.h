// Pools of float32 windows, by rows or by whole pixels.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Windows slide over x's axes from the third on.
struct Pool {
  bool max = true;         // or average
  bool count_pad = false;  // averages: padding counts as zeros (what ceil mode adds never counts)
  Dims x, result;          // [N, C, spatial...], 1 to 6 spatial axes
  Dims window, stride, dilation, pad_begin, pad_end;  // one a spatial axis
};

// Buffers: result, x. Dense. A window without any element gives -infinity (max) or 0 (average).
// Throws std::invalid_argument if a window has kPoolRoom or more elements on the last axis.
std::unique_ptr<Loop> PoolLoop(const Simd& simd, const Pool& pool);

}  // namespace ge_engines::cpu::native
