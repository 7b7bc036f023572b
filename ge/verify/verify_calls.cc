// Between functions: which functions nodes call, with what signature, how deep, in what circle.
#include "ge/verify/verify_calls.h"

#include <algorithm>

#include "ge/verify/rules.h"

namespace ge::verify {
namespace {

struct Call {
  const Node* node;
  FunctionId callee;
};

Status CheckIds(const Graph& g, const Node& n) {
  for (size_t i = 0; i < n.callees.size(); ++i) {
    const Callee& c = n.callees[i];
    if (c.fn == 0 || c.fn >= g.functions.size()) {
      return Bad("calls function " + std::to_string(c.fn) + " as '" + c.role + "'; there are " +
                 std::to_string(g.functions.size() - 1) + " functions");
    }
    for (size_t j = 0; j < i; ++j) {
      if (n.callees[j].role == c.role) return Bad("names two functions as '" + c.role + "'");
    }
  }
  for (const Attr& a : n.attrs) {
    const auto* ref = std::get_if<FunctionRef>(&a.value);
    if (ref && (ref->id == 0 || ref->id >= g.functions.size())) {
      return Bad("attribute '" + a.name + "' names function " + std::to_string(ref->id) +
                 "; there are " + std::to_string(g.functions.size() - 1));
    }
  }
  return {};
}

// What the callee in this role receives and gives: a number of arguments, the first of which is
// node input `first_input`, and a number of results beyond the node's outputs.
struct Shape {
  size_t first_input;    // node inputs before it are not passed on
  size_t extra_results;  // results that are not outputs of the node (Loop's condition)
};

const Shape* ShapeOf(const Node& n, const std::string& role) {
  static constexpr Shape kBranch{1, 0}, kLoopBody{0, 1}, kPlain{0, 0};
  if (n.domain.empty() && n.op == "If") return &kBranch;
  if (n.domain.empty() && n.op == "Loop") return &kLoopBody;
  if (n.domain.empty() && n.op == "Scan") return &kPlain;
  if (n.domain == "ge" && n.op == "Call" && role == "fn") return &kPlain;
  return nullptr;
}

Status CheckSignature(const Graph& g, const Function& caller, const Node& n, const Callee& c) {
  const Shape* shape = ShapeOf(n, c.role);
  if (!shape) return {};
  const Function& f = g.fn(c.fn);
  const std::string who = n.op + "'s " + c.role + " '" + f.name + "'";
  const size_t given =
      n.inputs.size() < shape->first_input ? 0 : n.inputs.size() - shape->first_input;
  if (f.params.size() != given) {
    return Bad(who + " takes " + std::to_string(f.params.size()) + " inputs but is given " +
               std::to_string(given) + "; captured values are explicit inputs");
  }
  if (f.results.size() != n.outputs.size() + shape->extra_results) {
    return Bad(who + " gives " + std::to_string(f.results.size()) + " results, the node wants " +
               std::to_string(n.outputs.size() + shape->extra_results));
  }
  for (size_t i = 0; i < given; ++i) {
    const ValueId arg = n.inputs[i + shape->first_input];
    const Type& have = caller.value(arg).type;
    const Type& want = f.value(f.params[i]).type;
    if (!arg || !have.is_tensor() || !want.is_tensor() || !IsKnown(have.dtype) ||
        !IsKnown(want.dtype) || have.dtype == want.dtype) {
      continue;
    }
    return Bad(who + " wants " + std::string(DTypeName(want.dtype)) + " for its input " +
               std::to_string(i) + " but is given " + std::string(DTypeName(have.dtype)));
  }
  return {};
}

// Both branches of an If have the same element types.
Status CheckBranches(const Graph& g, const Node& n) {
  if (!n.domain.empty() || n.op != "If") return {};
  const Function* branch[2] = {nullptr, nullptr};
  for (const Callee& c : n.callees) {
    if (c.role == "then_branch") branch[0] = &g.fn(c.fn);
    if (c.role == "else_branch") branch[1] = &g.fn(c.fn);
  }
  if (!branch[0] || !branch[1]) return Bad("an If needs a then_branch and an else_branch");
  for (size_t i = 0; i < branch[0]->results.size(); ++i) {
    const Type& a = branch[0]->value(branch[0]->results[i]).type;
    const Type& b = branch[1]->value(branch[1]->results[i]).type;
    if (a.kind == TypeKind::kUnknown || b.kind == TypeKind::kUnknown) continue;
    const bool same_dtype = !IsKnown(a.dtype) || !IsKnown(b.dtype) || a.dtype == b.dtype;
    if (a.kind == b.kind && same_dtype) continue;
    return Bad("result " + std::to_string(i) + " is " + TypeToString(a, g.dims) +
               " in then_branch '" + branch[0]->name + "' and " + TypeToString(b, g.dims) +
               " in else_branch '" + branch[1]->name + "'; both must be of one type");
  }
  return {};
}

using CallGraph = std::vector<std::vector<Call>>;  // by caller

CallGraph CollectCalls(const Graph& g) {
  CallGraph calls(g.functions.size());
  for (const Function& f : g.functions) {
    for (const Node& n : f.nodes) {
      for (const Callee& c : n.callees) calls[f.id].push_back(Call{&n, c.fn});
      for (const Attr& a : n.attrs) {
        if (const auto* ref = std::get_if<FunctionRef>(&a.value)) {
          calls[f.id].push_back(Call{&n, ref->id});
        }
      }
    }
  }
  return calls;
}

// The circle that `callee` closes on the present path, if its functions are not all recursive.
Status CheckCircle(const Graph& g, const std::vector<FunctionId>& path, FunctionId callee,
                   const Node& call) {
  auto start = std::find(path.begin(), path.end(), callee);
  std::string chain;
  bool allowed = true;
  for (auto it = start; it != path.end(); ++it) {
    chain += g.fn(*it).name + " -> ";
    allowed &= g.fn(*it).recursive;
  }
  if (allowed) return {};
  return Bad("functions call each other in a circle: " + chain + g.fn(callee).name +
             "; only functions marked recursive may")
      .AtNode(NodeLabel(call));
}

// Depth first with its own stack; depth[f] = longest chain of calls below f.
class CircleWalk {
 public:
  CircleWalk(const Graph& g, const VerifyLimits& limits)
      : g_(g),
        limits_(limits),
        calls_(CollectCalls(g)),
        state_(g.functions.size(), kNew),
        next_(g.functions.size(), 0),
        depth_(g.functions.size(), 1) {}

  Status Run() {
    for (FunctionId root = 1; root < g_.functions.size(); ++root) {
      if (state_[root] == kNew) GE_RETURN_IF_ERROR(From(root));
    }
    return {};
  }

 private:
  enum State : uint8_t { kNew, kOpen, kDone };

  Status From(FunctionId root) {
    std::vector<FunctionId> path{root};
    state_[root] = kOpen;
    while (!path.empty()) {
      const FunctionId f = path.back();
      if (next_[f] == calls_[f].size()) {
        GE_RETURN_IF_ERROR(Close(f, &path));
        continue;
      }
      const Call& call = calls_[f][next_[f]++];
      if (state_[call.callee] == kOpen) {
        GE_RETURN_IF_ERROR(CheckCircle(g_, path, call.callee, *call.node));
      } else if (state_[call.callee] == kNew) {
        state_[call.callee] = kOpen;
        path.push_back(call.callee);
      }
    }
    return {};
  }

  Status Close(FunctionId f, std::vector<FunctionId>* path) {
    for (const Call& call : calls_[f]) {
      if (state_[call.callee] == kDone) depth_[f] = std::max(depth_[f], depth_[call.callee] + 1);
    }
    state_[f] = kDone;
    path->pop_back();
    if (depth_[f] <= limits_.max_function_depth) return {};
    return Limit("function '" + g_.fn(f).name + "' has calls nested " + std::to_string(depth_[f]) +
                 " deep; the limit is " + std::to_string(limits_.max_function_depth));
  }

  const Graph& g_;
  const VerifyLimits& limits_;
  const CallGraph calls_;
  std::vector<State> state_;
  std::vector<size_t> next_;
  std::vector<uint32_t> depth_;
};

}  // namespace

Status CheckCallsOf(const Graph& graph, const Function& function, const Node& node) {
  GE_RETURN_IF_ERROR(CheckIds(graph, node));
  for (const Callee& c : node.callees) {
    GE_RETURN_IF_ERROR(CheckSignature(graph, function, node, c));
  }
  return CheckBranches(graph, node);
}

Status CheckCalls(const Graph& graph, const VerifyLimits& limits) {
  for (const Function& f : graph.functions) {
    for (const Node& n : f.nodes) GE_RETURN_IF_ERROR(At(n, CheckCallsOf(graph, f, n)));
  }
  return CircleWalk(graph, limits).Run();
}

}  // namespace ge::verify

namespace ge {

Status VerifyCalls(const Graph& graph, const Function& function, const Node& node) {
  return verify::At(node, verify::CheckCallsOf(graph, function, node));
}

}  // namespace ge
