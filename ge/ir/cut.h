// Parts of a graph as graphs of their own: some nodes of a function, what they read as inputs, and
// nothing that they do not need. For small cases of large models. It evaluates nothing and judges
// no legality: VERIFY does. Pure; any thread may call.
#pragma once

#include <vector>

#include "ge/ir/graph.h"

namespace ge {

// Of the nodes in `keep`, by position, those that `results` need; those with effects or without
// outputs stay.
std::vector<bool> NeededNodes(const Function& function, std::vector<bool> keep,
                              const std::vector<ValueId>& results);

// Leaves the nodes of `keep`, and `results`. Parameters that are read stay, in their order; behind
// them come other values that are read and that nothing makes any more, in the order of their
// reading, with the types that they have.
void CutFunction(Function* function, const std::vector<bool>& keep, std::vector<ValueId> results);

// Drops functions that no entry and no state reaches, and numbers the rest anew, the first entry's
// first.
void DropUncalled(Graph* graph);

// Drops states that no function has an effect on, and numbers the rest anew.
void DropUnusedStates(Graph* graph);

}  // namespace ge
