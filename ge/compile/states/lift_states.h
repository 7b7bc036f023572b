// Turns reads of a state into a parameter and the last assignment into a result: inside a run
// states are plain values, and the new ones become visible when the run has succeeded.
#pragma once

#include <map>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Replaces ge.Read and ge.Assign of an entry's function by parameters and results.
Status LiftStates(Graph* graph, FunctionId fn, std::vector<StateId>* in, std::vector<StateId>* out);

// A graph with lifted entries, and the states each of them reads and writes. Without states the
// graph is left empty: nothing is to be lifted.
struct LiftedGraph {
  struct States {
    std::vector<StateId> in, out;  // parameters and results behind its own
    Status refused;                // UNSUPPORTED: a body touches a state
  };
  Graph graph;
  std::map<FunctionId, States> states;
  const Graph& Of(const Graph& model) const { return model.states.size() > 1 ? graph : model; }
};
Result<LiftedGraph> LiftEntries(const Graph& graph);

}  // namespace ge
