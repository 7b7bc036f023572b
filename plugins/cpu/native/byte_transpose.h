// Images of bytes, converted between channels first and channels last.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu::native {

// Buffers: y[image][r][c] from x[image][c][r].
std::unique_ptr<Loop> ByteTransposeLoop(const Simd& simd, int64_t images, int64_t columns,
                                        int64_t rows);

}  // namespace ge_engines::cpu::native
