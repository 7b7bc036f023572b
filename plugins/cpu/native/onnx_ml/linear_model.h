// Linear models of ai.onnx.ml: weighted sums of a row's features in float32, and what is made of
// them. Immutable; any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/onnx_ml/linear_model.h"

namespace ge_engines::cpu::native {

// ns by one thread.
double LineNs(const WeightLines& l);
// Places: scores [rows, columns], labels [rows] of int64 or anything of a regressor, x.
std::unique_ptr<Loop> LineLoop(const Simd& simd, std::shared_ptr<const WeightLines> lines);

}  // namespace ge_engines::cpu::native
