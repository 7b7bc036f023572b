#include "ge/verify/verify.h"

#include <map>
#include <set>
#include <tuple>

#include "ge/verify/rules.h"

namespace ge {
namespace verify {

Status Bad(std::string message) { return Status(Code::kInvalidGraph, std::move(message)); }
Status Limit(std::string message) { return Status(Code::kLimitExceeded, std::move(message)); }

namespace {

std::string FunctionLabel(const Function& f) {
  return f.overload.empty() ? f.name : f.name + ":" + f.overload;
}

Status CheckTables(const Graph& g, const VerifyLimits& limits) {
  if (g.functions.empty() || g.consts.empty() || g.states.empty() || g.locs.empty()) {
    return Bad("a table of the graph lacks its absent entry 0");
  }
  uint64_t nodes = 0, values = 0;
  for (const Function& f : g.functions) {
    nodes += f.nodes.size();
    values += f.values.size();
  }
  if (nodes > limits.max_nodes) {
    return Limit("the graph has " + std::to_string(nodes) + " nodes, the limit is " +
                 std::to_string(limits.max_nodes));
  }
  if (values > limits.max_values) {
    return Limit("the graph has " + std::to_string(values) + " values, the limit is " +
                 std::to_string(limits.max_values));
  }
  for (LocId i = 1; i < g.locs.size(); ++i) {
    if (g.locs[i].caller >= i) {
      return Bad("location " + std::to_string(i) + " names caller " +
                 std::to_string(g.locs[i].caller) + "; a caller comes before its callee");
    }
  }
  return {};
}

Status CheckEntries(const Graph& g) {
  if (g.entries.empty()) return Bad("the model has no graph: it needs at least one entry");
  std::set<std::string> names;
  for (const Entry& e : g.entries) {
    if (e.name.empty()) return Bad("an entry has no name; give it one");
    if (!names.insert(e.name).second) {
      return Bad("two entries are named '" + e.name + "'; rename one");
    }
    if (e.fn == 0 || e.fn >= g.functions.size()) {
      return Bad("entry '" + e.name + "' names function " + std::to_string(e.fn) + "; there are " +
                 std::to_string(g.functions.size() - 1) + " functions");
    }
    const Function& f = g.fn(e.fn);
    bool effects = !f.effects.empty();
    for (const Node& n : f.nodes) effects |= !n.effects.empty();
    if (f.results.empty() && !effects) {
      return Bad("entry '" + e.name + "' has no outputs; declare at least one");
    }
    if (!f.attr_params.empty()) {
      return Bad("entry '" + e.name + "' has attribute parameter '" + f.attr_params[0] +
                 "'; an entry's function takes none, since nobody can pass it");
    }
  }
  return {};
}

Status CheckFunctionTable(const Graph& g) {
  std::set<std::pair<std::string, std::string>> names;
  using Key =
      std::tuple<std::string, FunctionId, std::vector<bool>, std::vector<bool>, std::string>;
  std::map<Key, std::string> derived;
  for (FunctionId i = 1; i < g.functions.size(); ++i) {
    const Function& f = g.functions[i];
    if (f.id != i) {
      return Bad("function '" + f.name + "' at place " + std::to_string(i) + " says its id is " +
                 std::to_string(f.id));
    }
    if (!names.emplace(f.name, f.overload).second) {
      return Bad("two functions are named '" + FunctionLabel(f) + "'; rename one");
    }
    for (FunctionId ref : {f.custom_jvp, f.custom_vjp, f.derived.of}) {
      if (ref >= g.functions.size()) {
        return Bad("function '" + f.name + "' refers to function " + std::to_string(ref) +
                   "; there are " + std::to_string(g.functions.size() - 1));
      }
    }
    if (f.derived.kind.empty()) continue;
    const auto& d = f.derived;
    auto [it, fresh] =
        derived.emplace(Key{d.kind, d.of, d.active_in, d.active_out, d.policy}, f.name);
    if (!fresh) {
      return Bad("functions '" + it->second + "' and '" + f.name + "' are the same derivation (" +
                 d.kind + "); keep one");
    }
  }
  return {};
}

}  // namespace
}  // namespace verify

Status Verify(const Graph& graph, const VerifyLimits& limits) {
  GE_RETURN_IF_ERROR(verify::CheckTables(graph, limits));
  GE_RETURN_IF_ERROR(verify::CheckEntries(graph));
  GE_RETURN_IF_ERROR(verify::CheckFunctionTable(graph));
  GE_RETURN_IF_ERROR(verify::CheckSymbols(graph));
  GE_RETURN_IF_ERROR(verify::CheckConstants(graph, limits));
  GE_RETURN_IF_ERROR(verify::CheckStates(graph, limits));
  std::vector<bool> is_entry(graph.functions.size(), false);
  for (const Entry& e : graph.entries) is_entry[e.fn] = true;
  for (FunctionId i = 1; i < graph.functions.size(); ++i) {
    GE_RETURN_IF_ERROR(verify::CheckFunction(graph, graph.functions[i], is_entry[i], limits));
  }
  GE_RETURN_IF_ERROR(verify::CheckCalls(graph, limits));
  return verify::CheckGradients(graph);
}

}  // namespace ge
