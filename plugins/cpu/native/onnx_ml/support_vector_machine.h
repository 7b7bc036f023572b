// Support vector machines of ai.onnx.ml: the kernel function of a row and each vector in float32 by
// vectors of lanes, sums of those and what is made of them in doubles. Immutable; any number of
// threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/onnx_ml/support_vector_machine.h"

namespace ge_engines::cpu::native {

// Floats of workspace that each thread needs.
uint64_t SupportVectorFloats(const SupportVectorMachine& machine);
// How many of so many threads share the rows.
int SupportVectorThreads(const SupportVectorMachine& machine, int threads);
// ns by one thread.
double SupportVectorNs(const SupportVectorMachine& machine);
// Buffers: scores [rows, columns], labels [rows] of int64 or anything of a regressor, x, workspace.
std::unique_ptr<Loop> SupportVectorLoop(const Simd& simd,
                                        std::shared_ptr<const SupportVectorMachine> machine,
                                        int threads);

}  // namespace ge_engines::cpu::native
