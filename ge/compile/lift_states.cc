#include "ge/compile/lift_states.h"

#include <fmt/format.h>

#include <map>

#include "ge/ops/edit.h"

namespace ge {
namespace {

Result<StateId> StateOf(const Graph& graph, const Node& node) {
  for (const Effect& e : node.effects) {
    if (e.kind == EffectKind::kState && e.object > 0 && e.object < graph.states.size()) {
      return e.object;
    }
  }
  return Status(Code::kInvalidGraph,
                fmt::format("ge.{} names no state; give it a state effect", node.op))
      .AtNode(NodeLabel(node));
}

}  // namespace

Status LiftStates(Graph* graph, FunctionId fn, std::vector<StateId>* in,
                  std::vector<StateId>* out) {
  Function& f = graph->fn(fn);
  std::map<StateId, ValueId> current, read;
  std::map<StateId, bool> written;
  std::map<ValueId, ValueId> renamed;
  std::vector<Node> kept;
  for (Node& node : f.nodes) {
    for (ValueId& v : node.inputs) {
      if (auto it = renamed.find(v); it != renamed.end()) v = it->second;
    }
    bool is_read = node.domain == "ge" && node.op == "Read";
    bool is_assign = node.domain == "ge" && node.op == "Assign";
    if (!is_read && !is_assign) {
      kept.push_back(std::move(node));
      continue;
    }
    GE_ASSIGN_OR_RETURN(StateId state, StateOf(*graph, node));
    if (is_assign) {
      if (node.inputs.empty() || node.inputs[0] == 0) {
        return Status(Code::kInvalidGraph, "ge.Assign has no value to write")
            .AtNode(NodeLabel(node));
      }
      current[state] = node.inputs[0];
      written[state] = true;
    } else if (!current.count(state)) {
      current[state] = read[state] =
          AddValue(&f, graph->states[state].type, "state:" + graph->states[state].name);
    }
    for (ValueId v : node.outputs) {
      if (v) renamed[v] = current[state];
    }
  }
  f.nodes = std::move(kept);
  for (ValueId& r : f.results) {
    if (auto it = renamed.find(r); it != renamed.end()) r = it->second;
  }
  for (auto [state, value] : read) {
    in->push_back(state);
    f.params.push_back(value);
  }
  for (auto [state, is_written] : written) {
    out->push_back(state);
    f.results.push_back(current[state]);
  }
  return {};
}

}  // namespace ge
