// Adds rows to a table, at indices.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: result, data, indices, updates. Adds each of `count` updates of n elements to a row of
// the data; the result may be the data. Updates of rows outside of it are skipped.
std::unique_ptr<Loop> AddRowsLoop(const Simd& simd, int64_t rows, int64_t n, int64_t count,
                                  bool wide);

}  // namespace ge_engines::cpu::native
