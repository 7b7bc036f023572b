// Linear models of ai.onnx.ml: weighted sums of a row's features in float32, then the transform of
// the scores. Immutable; any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/onnx_ml/linear_model.h"

namespace ge_engines::cpu::native {

// ns by one thread.
double LinearModelNs(const LinearModel& model);
// Buffers: scores [rows, columns], labels [rows] of int64 (any buffer for a regressor), x.
std::unique_ptr<Loop> LinearModelLoop(const Simd& simd, std::shared_ptr<const LinearModel> lines);

}  // namespace ge_engines::cpu::native
