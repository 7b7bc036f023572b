// Divides rows by their greatest element, sum of magnitudes or length.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/onnx_ml/normalizer.h"

namespace ge_engines::cpu::native {

// ns by one thread.
double RowNormNs(const RowNormSpec& spec);

// Buffers: result, x. A row with norm 0 stays unchanged.
std::unique_ptr<Loop> RowNormLoop(const Simd& simd, const RowNormSpec& spec);

}  // namespace ge_engines::cpu::native
