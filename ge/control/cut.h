// Cuts what is left of a function into what can be done now and the rest. "Now" is either one plan
// of nodes whose shapes are all known, beside nodes that the host runs on values at hand, or, where
// shapes wait for data, the content of small tensors. It runs nothing and asks no engine.
// Functions only; the caller owns everything, any thread may call.
#pragma once

#include <functional>
#include <vector>

#include "ge/base/status.h"
#include "ge/control/host_op.h"
#include "ge/ir/graph.h"

namespace ge {

// What is left of a function: its own values keep their numbers, so that a run keeps one table of
// values through all cuts.
struct FlowRest {
  Graph graph;
  FunctionId fn = 0;
};

// A node that the host runs: control flow, or by an operator's record.
struct HostStep {
  Node node;
  const HostOp* op = nullptr;  // null: control flow
  std::vector<Type> types;     // of its outputs, as far as they are known at the cut
};

struct FlowCut {
  // Nodes with their inputs as parameters and what others read as results, for the planner. No
  // nodes: there is nothing to plan.
  Graph plan;
  std::vector<ValueId> plan_in, plan_out;  // numbers of the function
  std::vector<HostStep> host;              // in order; each reads only what is at hand before it
  std::vector<ValueId> by_content;         // the cut holds for these contents only
  std::vector<ValueId> dead;               // values that nobody reads behind this cut
  FlowRest rest;                           // no nodes: the function's results are at hand
};

// Types of everything anew, from those of the parameters and from constants.
using InferHook = std::function<Status(Graph*)>;
// The content of a parameter as a constant; null when it is not plain numbers or too large.
using ContentHook = std::function<Const*(ValueId)>;

// Whether a bound function cannot be one plan: it holds what the host runs, or shapes that only the
// data decide.
bool NeedsFlow(const Function& f);

// `rest.graph` has the parameters' static types. UNSUPPORTED when neither shapes nor contents of
// inputs say what a node gives.
Result<FlowCut> CutFlow(FlowRest rest, const InferHook& infer, const ContentHook& content);

}  // namespace ge
