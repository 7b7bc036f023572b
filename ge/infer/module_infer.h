// ModuleInfer: one run of INFER over a graph: which functions are typed, in what order, and what
// callees receive. Writes types and known integers into the graph's values. Private to ge/infer;
// used by one thread.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ops/op.h"

namespace ge::infer {

class ModuleInfer {
 public:
  // `checked`: the graph was inferred before and only sizes are others now, so that operators,
  // attributes and dtypes need no look.
  explicit ModuleInfer(Graph* graph, bool checked = false);
  // All entries with what they call, then the functions that nothing calls.
  Status Run();
  // One function whose parameters are typed, with what it calls.
  Status RunFunction(FunctionId fn, int depth);

  Graph& graph() { return *graph_; }

 private:
  void ForgetComputed(FunctionId fn);
  Status InferNode(FunctionId fn, size_t index, int depth);
  // A callee whose parameters are typed, and `changed` since it ran last; `spared` is set instead
  // of an answer where it is a branch that may not be taken and contradicts them.
  Status RunCallee(const Node& node, FunctionId callee, int depth, bool changed, bool* spared);
  Status InferCallees(FunctionId fn, const Node& node, int depth);
  Result<std::vector<Type>> Arguments(const Function& caller, const Node& node);
  bool TakesAlready(const Function& caller, const Node& node, FunctionId callee) const;
  // Gives the callee's parameters these types; *changed says whether any became another.
  Status SetParams(FunctionId callee, const std::string& role, const std::vector<Type>& args,
                   bool* changed);
  Status SettleCarried(FunctionId body, size_t first_param, size_t first_result, int64_t carried,
                       int depth);

  enum class Progress : uint8_t { kNew, kOpen, kDone };
  Graph* graph_;
  const bool checked_;
  std::vector<Progress> progress_;    // by function
  std::vector<Status> failures_;      // by function: what its last run answered
  std::vector<uint32_t> call_sites_;  // by function
};

// What a declared and an inferred type agree on. `fresh` are the symbols that the rule has just
// made up: a declared name is better than those. INVALID_GRAPH naming both when they contradict;
// `what` names the value.
Result<Type> MergeTypes(const Type& declared, const Type& inferred, const DimTable& dims,
                        const std::vector<Dim>& fresh, const std::string& what);

// The same for two tensors, into `inferred`, without a copy. False, and nothing done, where one of
// them is a container or they contradict each other.
bool MergeTensors(const Type& declared, const std::vector<Dim>& fresh, Type* inferred);

// UNSUPPORTED with the nearest names when nobody knows the node's operator.
Status WantKnown(const Graph& graph, const Node& node);
// Types one node by its operator's record and rule, and stores the result in the values.
// `checked` as above.
Status InferOneNode(Graph* graph, FunctionId fn, size_t index, bool checked = false);

// The number of trailing inputs of a Loop or Scan that are captured values.
int64_t CapturesOf(const Node& node);

}  // namespace ge::infer
