#include "ge/compile/states/shareable_states.h"

#include <fmt/format.h>

#include <map>

namespace ge {
namespace {

Status NotShared(const std::string& found, const char* wanted) {
  return Status(Code::kUnsupported, fmt::format("{}; shared states take {}: make this session "
                                                "without ge_session_options.states",
                                                found, wanted));
}

Status CheckNodes(const Graph& graph, const Function& f) {
  std::map<ValueId, StateId> read;
  for (const Node& n : f.nodes) {
    for (const Effect& e : n.effects) {
      if (e.kind == EffectKind::kState && n.op == "Read" && !n.outputs.empty()) {
        read[n.outputs[0]] = e.object;
      }
      if (e.kind != EffectKind::kCollective || graph.states.size() < 2) continue;
      return NotShared(
                 fmt::format("'{}' is a collective, for which runs of other ranks wait", n.op),
                 "models of one rank")
          .AtNode(NodeLabel(n));
    }
    if (n.domain != "ge" || n.op != "KvAppend" || n.inputs.empty()) continue;
    const auto cache = read.find(n.inputs[0]);
    if (cache == read.end()) continue;
    const State& state = graph.states[cache->second];
    return NotShared(fmt::format("state '{}' of type {} is a cache that runs append to (kv_cache)",
                                 state.name, TypeToString(state.type, graph.dims)),
                     "states of a fixed size that runs overwrite")
        .AtNode(NodeLabel(n));
  }
  return {};
}

}  // namespace

Status CheckShareable(const Graph& loaded, const Graph& graph) {
  for (const Function& f : graph.functions) GE_RETURN_IF_ERROR(CheckNodes(graph, f));
  for (StateId i = 1; i < graph.states.size(); ++i) {
    const State& state = graph.states[i];
    if (!state.type.is_static()) {
      return NotShared(
          fmt::format("state '{}' has type {}", state.name, TypeToString(state.type, graph.dims)),
          "states of a fixed size");
    }
    for (StateId k = 1; k < loaded.states.size(); ++k) {
      const State& model = loaded.states[k];
      if (model.name != state.name || model.type == state.type) continue;
      return NotShared(fmt::format("state '{}' is {} in the model, and {} after its passes, as a "
                                   "rank's share",
                                   state.name, TypeToString(model.type, loaded.dims),
                                   TypeToString(state.type, graph.dims)),
                       "states as the model has them");
    }
  }
  return {};
}

}  // namespace ge
