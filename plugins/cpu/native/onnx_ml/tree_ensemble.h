// Decision trees as one array of nodes, the two children of a branch side by side. Loops walk
// several rows at once: each step waits for the previous one, but not for those of other rows.
// Immutable; any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/onnx_ml/tree_ensemble.h"

namespace ge_engines::cpu::native {

inline constexpr int64_t kMostChoices = 4096;
// Workspace of one thread, in floats.
uint64_t TreeEnsembleFloats(const TreeEnsemble& ensemble);
// How many of `threads` share its blocks of rows.
int TreeEnsembleThreads(const TreeEnsemble& ensemble, int threads);
// ns by one thread.
double TreeEnsembleNs(const TreeEnsemble& ensemble);
// Buffers: scores [rows, choices], labels [rows] of int64 (any for kTargets), x, workspace.
std::unique_ptr<Loop> TreeEnsembleLoop(std::shared_ptr<const TreeEnsemble> ensemble, int threads);

}  // namespace ge_engines::cpu::native
