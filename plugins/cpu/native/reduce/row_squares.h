// Sums of squares of rows, or their roots.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/reduce/row_squares.h"

namespace ge_engines::cpu::native {

double RowSquareNs(const RowSquareSpec& spec);

// Buffers: result, one element a row, x.
std::unique_ptr<Loop> RowSquareLoop(const Simd& simd, const RowSquareSpec& spec);

}  // namespace ge_engines::cpu::native
