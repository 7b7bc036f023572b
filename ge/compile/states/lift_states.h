// Reads of a state become a parameter, the last assignment becomes a result: inside a run states
// are plain values, and what the run wrote becomes visible when it has succeeded.
#pragma once

#include <map>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Replaces ge.Read and ge.Assign of an entry's function by parameters and results.
Status LiftStates(Graph* graph, FunctionId fn, std::vector<StateId>* in, std::vector<StateId>* out);

// A graph whose entries are lifted, and what each of them reads and writes. Without states nothing
// is to be lifted, and the graph is left empty.
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
