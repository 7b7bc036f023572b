// Lower: builds one rank's function of a planned step: nodes on the rank's boxes, and collectives
// where a value is read elsewhere than it is made. One thread, for one run of the pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "passes/kit/fn.h"
#include "passes/parallel/mesh.h"
#include "passes/parallel/plan.h"

namespace ge::parallel {

struct Rank {
  const Mesh& mesh;
  int64_t rank;
  bool whole_inputs = false;  // parameters are whole tensors, of which it takes its boxes
};

// graph: the step with whole tensors, all sizes known; names: of its nodes, by index. Fills `to`, a
// new function: parameters with the graph's names, nodes, results.
void Lower(const ge_graph* graph, const std::vector<std::string>& names, const Plan& plan,
           const Rank& rank, passes::Fn& to);

}  // namespace ge::parallel
