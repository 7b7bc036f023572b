// Rows added to those of a table that indices name.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result, data, indices, updates: each of `count` updates of n elements is added to a row
// of the data, which the result may be. Those of rows that are not there are left out.
std::unique_ptr<Loop> AddRowsLoop(const Simd& simd, int64_t rows, int64_t n, int64_t count,
                                  bool wide);

}  // namespace ge_engines::cpu::native
