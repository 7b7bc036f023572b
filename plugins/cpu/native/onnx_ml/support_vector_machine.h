// Support vector machines of ai.onnx.ml. Vectors of lanes compute the kernel function of a row and
// each support vector in float32; sums and scores are doubles. Immutable; any number of threads may
// run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/onnx_ml/support_vector_machine.h"

namespace ge_engines::cpu::native {

// Workspace of one thread, in floats.
uint64_t SupportVectorFloats(const SupportVectorMachine& machine);
// How many of `threads` share the rows.
int SupportVectorThreads(const SupportVectorMachine& machine, int threads);
// ns by one thread.
double SupportVectorNs(const SupportVectorMachine& machine);
// Buffers: scores [rows, columns], labels [rows] of int64 (any for a regressor), x, workspace.
std::unique_ptr<Loop> SupportVectorLoop(const Simd& simd,
                                        std::shared_ptr<const SupportVectorMachine> machine,
                                        int threads);

}  // namespace ge_engines::cpu::native
