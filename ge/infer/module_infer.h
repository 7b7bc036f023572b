// ModuleInfer: one run of INFER over a graph. It decides which functions are typed and in which
// order, and gives callees their types. Writes types and known integers into the graph's values.
// Private to ge/infer; used by one thread.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ops/op.h"

namespace ge::infer {

class ModuleInfer {
 public:
  // `checked`: the graph was inferred before and only sizes have changed, so operators, attributes
  // and dtypes need no check.
  explicit ModuleInfer(Graph* graph, bool checked = false);
  // All entries with their callees, then the functions without a caller.
  Status Run();
  // One function with typed parameters, and its callees.
  Status RunFunction(FunctionId fn, int depth);

  Graph& graph() { return *graph_; }

 private:
  void ForgetComputed(FunctionId fn);
  Status InferNode(FunctionId fn, size_t index, int depth);
  // A callee with typed parameters, `changed` since it ran last; `spared` is set instead of an
  // error where it is a branch that may not be taken and contradicts them.
  Status RunCallee(const Node& node, FunctionId callee, int depth, bool changed, bool* spared);
  Status InferCallees(FunctionId fn, const Node& node, int depth);
  Result<std::vector<Type>> Arguments(const Function& caller, const Node& node);
  bool TakesAlready(const Function& caller, const Node& node, FunctionId callee) const;
  // Gives the callee's parameters these types; *changed tells whether any type changed.
  Status SetParams(FunctionId callee, const std::string& role, const std::vector<Type>& args,
                   bool* changed);
  Status SettleCarried(FunctionId body, size_t first_param, size_t first_result, int64_t carried,
                       int depth);

  enum class Progress : uint8_t { kNew, kOpen, kDone };
  Graph* graph_;
  const bool checked_;
  std::vector<Progress> progress_;           // by function
  std::vector<Status> failures_;             // by function: its last run's answer
  std::vector<uint32_t> call_sites_;         // by function
  std::vector<std::vector<Type>> declared_;  // by function: of its parameters, before any call
};

// Merges a declared and an inferred type. `fresh` are symbols just made up by the rule: a declared
// name is better than those. INVALID_GRAPH naming both when they contradict; `what` names the
// value.
Result<Type> MergeTypes(const Type& declared, const Type& inferred, const DimTable& dims,
                        const std::vector<Dim>& fresh, const std::string& what);

// The same for two tensors, into `inferred`, without a copy. False, and nothing done, where one of
// them is a container or they contradict each other.
bool MergeTensors(const Type& declared, const std::vector<Dim>& fresh, Type* inferred);

// UNSUPPORTED with the nearest names when no table has the node's operator.
Status WantKnown(const Graph& graph, const Node& node);
// Types one node by its operator's record and rule, and stores the result in the values.
// `checked` as above.
Status InferOneNode(Graph* graph, FunctionId fn, size_t index, bool checked = false);

// The number of trailing inputs of a Loop or Scan for captured values.
int64_t CapturesOf(const Node& node);

}  // namespace ge::infer
