// Wants: where values are to be in the end, as far as states and pins say so: what an optimizer
// writes to a state in shares is wanted in shares, and so are the gradients that it calculates
// with. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ge/ge_plugin.h"
#include "passes/parallel/layout.h"
#include "passes/parallel/mesh.h"
#include "passes/parallel/plan.h"
#include "passes/parallel/rules.h"

namespace ge::parallel {

// The state that a node reads or writes as a whole, by ge.Read or ge.Assign; 0 = it does neither.
uint32_t StateOf(const ge_node& node);

struct Wants {
  // By value: the dim that is to be split along each axis, kWhole where nothing is known.
  std::vector<Places> places;
  std::vector<uint32_t> readers;  // by value: those that want it elsewhere, or do not care
};
// Through nodes that calculate element by element, backward from states and pinned values.
Wants WantsOf(const ge_graph* graph, const Mesh& mesh, const std::map<uint32_t, Places>& states,
              const std::map<uint32_t, Places>& values, const Rules& rules);

}  // namespace ge::parallel
