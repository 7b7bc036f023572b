// Normalizer of ai.onnx.ml. Immutable; any number of threads may run one.
#pragma once

#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_native {

using namespace ge_cpu;

// ns by one thread.
double RowNormNs(const RowNormSpec& s);
// Places: result, x. A row whose norm is 0 stays as it is.
std::unique_ptr<Loop> RowNormLoop(const Simd& simd, const RowNormSpec& s);

}  // namespace ge_native
