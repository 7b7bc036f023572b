// Pools that read vectors of channels in place, channels last or in blocks. They own no tensors;
// immutable, any number of threads may run one. Source: ONNX MaxPool, AveragePool.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/reduce/pool.h"

namespace ge_engines::cpu::native {

// Buffers: result, x. At most kMostTaps taps.
std::unique_ptr<Loop> ChannelPoolLoop(const Simd& simd, const Pool& pool, const Layout& x,
                                      const Layout& result);

}  // namespace ge_engines::cpu::native
