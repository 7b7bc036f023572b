// The arithmetic of the simulated library: plain loops with sums in float32. Pure.
#pragma once

#include <vector>

#include "plugins/gpu/sim/cudnn/graph.h"

namespace ge_engines::gpu::sim::dnn {

// Runs all operations. `at`: where the tensors of the graph lie; nullptr for virtual ones.
void Run(const Graph& graph, int engine, const std::vector<void*>& at);

}  // namespace ge_engines::gpu::sim::dnn
