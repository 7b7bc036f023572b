#include "ge/compile/states/lift_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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
  const auto is_either = [](const Node& n) {
    return n.domain == "ge" && (n.op == "Read" || n.op == "Assign");
  };
  if (std::none_of(f.nodes.begin(), f.nodes.end(), is_either)) return {};
  std::map<StateId, ValueId> current, read;
  std::map<StateId, bool> written;
  std::map<ValueId, ValueId> renamed;
  std::vector<Node> kept;
  for (Node& node : f.nodes) {
    for (ValueId& v : node.inputs) {
      if (auto it = renamed.find(v); it != renamed.end()) v = it->second;
    }
    if (!is_either(node)) {
      kept.push_back(std::move(node));
      continue;
    }
    GE_ASSIGN_OR_RETURN(StateId state, StateOf(*graph, node));
    if (node.op == "Assign") {
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
    // Results of an entry have names, which VERIFY asks for when a pass has changed something.
    std::string& name = f.value(current[state]).name;
    if (name.empty()) name = "next:" + graph->states[state].name;
    f.results.push_back(current[state]);
  }
  return {};
}

namespace {

bool HasStateEffect(const Function& f) {
  return std::any_of(f.nodes.begin(), f.nodes.end(), [](const Node& n) {
    return std::any_of(n.effects.begin(), n.effects.end(),
                       [](const Effect& e) { return e.kind == EffectKind::kState; });
  });
}

// Whether a function that `fn` calls, by way of others or not, reads or writes a state.
bool BodiesTouchStates(const Graph& graph, FunctionId fn) {
  std::set<FunctionId> seen;  // functions may call themselves
  std::vector<FunctionId> open = {fn};
  while (!open.empty()) {
    const Function& f = graph.fn(open.back());
    open.pop_back();
    for (const Node& n : f.nodes) {
      for (const Callee& c : n.callees) {
        if (!seen.insert(c.fn).second) continue;
        if (HasStateEffect(graph.fn(c.fn))) return true;
        open.push_back(c.fn);
      }
    }
  }
  return false;
}

}  // namespace

Result<LiftedGraph> LiftEntries(const Graph& graph) {
  LiftedGraph out;
  if (graph.states.size() <= 1) {
    for (const Entry& e : graph.entries) out.states[e.fn] = {};
    return out;
  }
  out.graph = graph;
  for (const Entry& e : out.graph.entries) {
    if (out.states.count(e.fn) != 0) continue;
    LiftedGraph::States& states = out.states[e.fn];
    if (BodiesTouchStates(out.graph, e.fn)) {
      states.refused = Status(
          Code::kUnsupported,
          fmt::format("entry '{}' reads or writes a state within a body of If, Loop or Scan; this "
                      "version does so only outside of them: read it before and write it behind",
                      e.name));
      continue;
    }
    GE_RETURN_IF_ERROR(LiftStates(&out.graph, e.fn, &states.in, &states.out));
  }
  return out;
}

}  // namespace ge
