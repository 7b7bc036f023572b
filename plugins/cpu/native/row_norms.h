// Rows by their norms (Normalizer of ai.onnx.ml), and sums of their squares. Immutable; any number
// of threads may run one.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu::native {

// ns by one thread.
double RowNormNs(const RowNormSpec& s);
// Places: result, x. A row whose norm is 0 stays as it is.
std::unique_ptr<Loop> RowNormLoop(const Simd& simd, const RowNormSpec& s);

double RowSquareNs(const RowSquareSpec& s);
// Places: result, one element a row, x.
std::unique_ptr<Loop> RowSquareLoop(const Simd& simd, const RowSquareSpec& s);

}  // namespace ge_engines::cpu::native
