// Cuts what is left of a function into what can be done now and the rest. "Now" is either one plan
// of nodes whose shapes are all known, beside nodes that the host runs on values at hand, or, where
// shapes wait for data, the content of small tensors. A cut is made for the shapes at hand and
// serves others of its structure too: SizeCut says what it becomes at them and whether it holds.
// An If whose condition shapes decide is taken apart on the way, and one that small arguments
// decide. It runs nothing and asks no engine. Functions only; the caller owns everything, any
// thread may call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/control/host_op.h"
#include "ge/ir/graph.h"
#include "ge/ops/op.h"

namespace ge {

// What is left of a function: its own values keep their numbers, so that a run keeps one table of
// values through all cuts; branches that are taken apart add some. Types are those of the model,
// never those of a run.
struct FlowRest {
  Graph graph;
  FunctionId fn = 0;
};

// A node that the host runs: control flow, or by an operator's record.
struct HostStep {
  Node node;
  const HostOp* op = nullptr;     // null: control flow, or
  const OpDef* kernel = nullptr;  // a plugin's operator whose sizes its data decide
};

struct FlowCut {
  // The nodes of the plan, then those of the host where types depend on them. Parameters: `in`;
  // results: `plan_out`, then the conditions.
  FlowRest now;
  size_t planned = 0;                      // nodes of the plan
  std::vector<ValueId> in;                 // numbers of the function; plan_in comes first
  std::vector<ValueId> plan_in, plan_out;  // numbers of the function
  std::vector<HostStep> host;              // in order; each reads only what is at hand before it
  bool has_types = false;                  // the host's nodes are in `now`
  std::vector<ValueId> by_content;         // constants of the plan: they decide its shapes
  std::vector<ValueId> chosen_by;          // what they hold decides conditions
  std::vector<bool> conditions;            // the cut holds where they come out so
  std::vector<ValueId> dead;               // values that nobody reads behind this cut
  std::vector<ValueId> results;            // of the function
  size_t values = 0;                       // of the function, with those that branches added
  FlowRest rest;                           // no nodes: the function's results are at hand
};

// Types of everything anew, from those of the parameters and from constants.
using InferHook = std::function<Status(Graph*)>;

// What a cut may know of the values at hand.
struct FlowKnown {
  // Null where it is no tensor.
  std::function<std::optional<Type>(ValueId)> type;
  // As a constant; null when it is not plain numbers or too large.
  std::function<const Const*(ValueId)> content;
  // Whether what the value holds may decide conditions: an argument of the function that has not
  // changed too often.
  std::function<bool(ValueId)> may_choose;
  // Contents change all the time here: what waits for them is to wait once and for all.
  bool all_contents = false;
};

// A cut at the shapes at hand.
struct SizedCut {
  Graph plan;                            // nodes with inputs as parameters and what others read as
                                         // results; its function has the number of now.fn
  std::vector<std::vector<Type>> types;  // of what each host step makes; empty without has_types
};

// Whether a bound function cannot be one plan: it holds what the host runs, or shapes that only the
// data decide.
bool NeedsFlow(const Graph& graph, const Function& function);

// UNSUPPORTED when neither shapes nor contents of inputs say what a node gives.
Result<FlowCut> CutFlow(const FlowRest& rest, const InferHook& infer, const FlowKnown& known);

// Nothing where the cut does not hold for what is at hand.
std::optional<SizedCut> SizeCut(const FlowCut& cut, const InferHook& infer, const FlowKnown& known);

// Empties the functions that `fn` does not reach: they would be inferred for nothing, or say what
// types `fn` is called with elsewhere.
void ForgetOthers(Graph* graph, FunctionId fn);

}  // namespace ge
