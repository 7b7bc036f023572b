// SavedPlan: a plan that a file has, with the graph that it is of and the packs that its segments
// read. A promise of nobody: Builder checks every number of it before it follows one. The caller
// owns it; it is read alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ge/engine/resident/residents.h"
#include "ge/ir/graph.h"
#include "ge/plan/plan.h"

namespace ge {

struct SavedPlan {
  // Engines, devices, layouts, conversions, and of functions[0] the segments with their offers;
  // engines and devices go by their names.
  Plan plan;
  std::vector<std::vector<SavedPack>> packs;  // by segment; may be short
  // As a Compiled has them; the graph has the parts of `expanded` already.
  std::optional<uint64_t> shape_class, looser_class;
  std::vector<NodeId> expanded;
  double over_floor = 1;
};

}  // namespace ge
