// Cuts the rest of a function into a part to do now and a new rest. "Now" is either one plan
// of nodes with known shapes, beside nodes that the host runs on values at hand, or, where
// shapes wait for data, the content of small tensors. A cut is made for the shapes at hand and
// serves others of its structure too: SizeCut sizes it for them and tells whether it holds. On
// the way it takes apart each If whose condition depends on shapes or on small arguments. It
// runs nothing and asks no engine. Functions only; the caller owns everything, any thread may
// call.
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

// The rest of a function. Its own values keep their numbers, so a run keeps one table of values
// through all cuts; inlined branches add some. Types are those of the model, never those of a
// run.
struct FlowRest {
  Graph graph;
  FunctionId fn = 0;
};

// A node that the host runs: control flow, or by an operator's record.
struct HostStep {
  Node node;
  const HostOp* op = nullptr;     // null: control flow, or
  const OpDef* kernel = nullptr;  // a plugin's operator with data-dependent sizes
};

struct FlowCut {
  // The nodes of the plan, then those of the host where types depend on them. Parameters: `in`;
  // results: `plan_out`, then the conditions.
  FlowRest now;
  size_t planned = 0;                      // nodes of the plan
  std::vector<ValueId> in;                 // numbers of the function; plan_in comes first
  std::vector<ValueId> plan_in, plan_out;  // numbers of the function
  std::vector<HostStep> host;              // in order; each reads only values at hand before it
  bool has_types = false;                  // the host's nodes are in `now`
  std::vector<ValueId> by_content;         // constants of the plan: they decide its shapes
  std::vector<ValueId> chosen_by;          // their contents decide conditions
  std::vector<bool> conditions;            // the cut holds for these outcomes
  std::vector<ValueId> dead;               // not read behind this cut
  std::vector<ValueId> results;            // of the function
  size_t values = 0;                       // of the function, with those that branches added
  FlowRest rest;                           // no nodes: the function's results are at hand
};

// Infers all types anew, from those of the parameters and from constants.
using InferHook = std::function<Status(Graph*)>;

// Values at hand, as far as a cut may know them.
struct FlowKnown {
  // Null for anything but a tensor.
  std::function<std::optional<Type>(ValueId)> type;
  // As a constant; null when it holds no plain numbers or is too large.
  std::function<const Const*(ValueId)> content;
  // Whether the value's content may decide conditions: an argument of the function that has not
  // changed too often.
  std::function<bool(ValueId)> may_choose;
  // Contents change with every call here: wait once for all of them.
  bool all_contents = false;
};

// A cut at the shapes at hand.
struct SizedCut {
  Graph plan;                            // nodes with inputs as parameters and what others read as
                                         // results; its function has the number of now.fn
  std::vector<std::vector<Type>> types;  // of each host step's outputs; empty without has_types
};

// Shape and Size: the type of their input decides their output.
bool AsksSizes(const Node& node);

// Whether a bound function cannot be one plan: it takes or gives texts, or holds nodes of the host,
// or data-dependent shapes.
bool NeedsFlow(const Graph& graph, const Function& function);

// UNSUPPORTED when neither shapes nor contents of inputs decide a node's output type.
Result<FlowCut> CutFlow(const FlowRest& rest, const InferHook& infer, const FlowKnown& known);

// Nothing where the cut does not hold for the values at hand.
std::optional<SizedCut> SizeCut(const FlowCut& cut, const InferHook& infer, const FlowKnown& known);

// Empties the functions out of `fn`'s reach: inferring them would be wasted, or they would state
// types of calls of `fn` elsewhere.
void ForgetOthers(Graph* graph, FunctionId fn);

}  // namespace ge
