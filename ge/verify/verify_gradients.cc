// ge.Gradient: which functions may be differentiated. Signatures are INFER's.
#include <algorithm>

#include "ge/ops/gradient.h"
#include "ge/verify/rules.h"

namespace ge::verify {
namespace {

FunctionId DerivedBy(const Node& n) {
  for (const Callee& c : n.callees) {
    if (c.role == "fn") return c.fn;
  }
  return 0;
}

bool WritesState(const Node& n) {
  if (!n.callees.empty() || (n.domain == "ge" && n.op == "Read")) return false;
  return std::any_of(n.effects.begin(), n.effects.end(),
                     [](const Effect& e) { return e.kind == EffectKind::kState; });
}

std::string StateWrittenBy(const Graph& g, const Node& n) {
  for (const Effect& e : n.effects) {
    if (e.kind == EffectKind::kState && e.object < g.states.size()) return g.states[e.object].name;
  }
  return {};
}

// All that runs when `first` is differentiated: what it calls, and their own derivatives.
std::vector<FunctionId> ReachedFrom(const Graph& g, FunctionId first) {
  std::vector<FunctionId> found{first};
  std::vector<bool> seen(g.functions.size());
  seen[first] = true;
  const auto add = [&](FunctionId fn) {
    if (fn == 0 || fn >= g.functions.size() || seen[fn]) return;
    seen[fn] = true;
    found.push_back(fn);
  };
  for (size_t i = 0; i < found.size(); ++i) {
    const Function& f = g.fn(found[i]);
    add(f.custom_vjp);
    add(f.custom_jvp);
    for (const Node& n : f.nodes) {
      for (const Callee& c : n.callees) add(c.fn);
    }
  }
  return found;
}

Status CheckGradient(const Graph& g, FunctionId around, const Node& n) {
  const FunctionId of = DerivedBy(n);
  if (of == 0 || n.callees.size() != 1) return Bad("a Gradient names one function, as 'fn'");
  const std::string name = g.fn(of).name;
  if (!n.after.empty()) {
    return Bad("the Gradient of '" + name +
               "' has a control edge; it becomes many nodes, so put the edge on others");
  }
  for (const FunctionId fn : ReachedFrom(g, of)) {
    if (fn == around) {
      return Bad("differentiates '" + name + "', which needs '" + g.fn(around).name +
                 "', where this Gradient stands: that derivative would never end; differentiate a "
                 "function without it");
    }
    for (const Node& m : g.fn(fn).nodes) {
      if (!WritesState(m)) continue;
      return Bad("differentiates '" + name + "', in which " + m.op + " '" + NodeLabel(m) +
                 "' of function '" + g.fn(fn).name + "' writes state '" + StateWrittenBy(g, m) +
                 "'; such a function may only read states: answer the value and write it outside");
    }
  }
  return {};
}

Status CheckEdges(const Function& f, NodeId gradient) {
  for (const Node& n : f.nodes) {
    if (std::count(n.after.begin(), n.after.end(), gradient) == 0) continue;
    return Bad("has a control edge from a Gradient; it becomes many nodes, so put the edge on "
               "others")
        .AtNode(NodeLabel(n));
  }
  return {};
}

}  // namespace

Status CheckGradients(const Graph& graph) {
  for (const Function& f : graph.functions) {
    for (const Node& n : f.nodes) {
      if (!IsGradient(n)) continue;
      GE_RETURN_IF_ERROR(At(n, CheckGradient(graph, f.id, n)));
      GE_RETURN_IF_ERROR(CheckEdges(f, n.id));
    }
  }
  return {};
}

}  // namespace ge::verify
