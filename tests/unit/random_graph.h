// Random graphs of simple float operators, for tests that compare engines bit by bit. Values stay
// small and distinct, so that a wrong or late tensor shows in the outputs. The same seed gives the
// same graph everywhere. Tests only.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/ir/graph.h"

namespace ge::test {

struct RandomGraphOptions {
  uint32_t nodes = 16;
  int64_t side = 24;  // tensors are [side, side], or twice as wide, or one column
};

// One entry "main" with three inputs f32[side,side].
Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options = {});

// Random input tensors of the entry "main": values in [-1, 1).
std::vector<std::vector<float>> RandomInputs(uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace ge::test
