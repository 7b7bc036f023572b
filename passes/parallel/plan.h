// Plan: where every value of a step lies along one axis of a mesh, decided by shapes alone, so that
// all ranks decide alike. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ge/ge_plugin.h"
#include "passes/parallel/factors.h"

namespace ge::parallel {

struct PlannedNode {
  Way way;
  bool of_shape = false;
};

struct Plan {
  std::vector<int> made;              // by value: its place where it is made
  std::vector<PlannedNode> node;      // by node of the picture
  std::set<uint32_t> summed;          // terms that somebody reads whole
  std::vector<std::string> gathered;  // what operators without a rule gather; for people
};

// inputs: places of the picture's inputs; states: of those that are split, by index. All sizes of
// the picture are known.
Plan PlanOf(const ge_graph* graph, const std::vector<int>& inputs,
            const std::map<uint32_t, int>& states, int64_t shares);

}  // namespace ge::parallel
