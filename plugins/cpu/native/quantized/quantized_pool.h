// Pools of 8-bit tensors, by rows or by whole pixels.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::native {

// Buffers: result, x; 8-bit integers, 1 or 2 spatial axes. A window of padding alone gives the
// least value.
std::unique_ptr<Loop> QuantizedPoolLoop(const PoolSpec& spec, bool is_signed);

// MaxPool of images with channels last. Buffers: result, x.
std::unique_ptr<Loop> QuantizedPoolLastLoop(const Simd& simd, const PoolSpec& pool, bool is_signed);

}  // namespace ge_engines::cpu::native
