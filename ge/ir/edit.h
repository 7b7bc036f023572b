// Transaction: the one way for passes to change a graph. Edits apply at once to the Graph that it
// wraps; the runner keeps a copy and restores it when the pass or the verification after it fails.
// Used by one thread.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/ir/walk.h"

namespace ge {

class Transaction {
 public:
  Transaction(Graph* graph, std::string pass) : graph_(graph), pass_(std::move(pass)) {}

  const Graph& graph() const { return *graph_; }
  DimTable& dims() { return graph_->dims; }
  const std::string& pass() const { return pass_; }
  int edits() const { return edits_; }  // how many edits were made so far

  // A new node with fresh outputs of the given types, placed before `before` (0 = at the end).
  // `replaces` are recorded as its origin. Answers its output values.
  std::vector<ValueId> AddNode(FunctionId fn, NodeId before, std::string domain, std::string op,
                               std::vector<ValueId> inputs, std::vector<Attr> attrs,
                               std::vector<Type> output_types,
                               const std::vector<const Node*>& replaces);
  ValueId AddConst(FunctionId fn, Const c);
  // Every reader of `from`, and every result that is `from`, now reads `to`.
  void ReplaceUses(FunctionId fn, ValueId from, ValueId to);
  void SetInput(FunctionId fn, NodeId node, uint32_t slot, ValueId to);
  void SetAttr(FunctionId fn, NodeId node, Attr attr);
  void SetType(FunctionId fn, ValueId value, Type type);
  void AddOrigin(FunctionId fn, NodeId node, const Node& from);
  // The node's outputs must have no readers left when the pass ends; the verifier checks it.
  void Erase(FunctionId fn, NodeId node);

 private:
  Node* Find(FunctionId fn, NodeId node);
  Graph* graph_;
  std::string pass_;
  int edits_ = 0;
};

// Drops values that nothing names any more and renumbers the rest densely; drops unused constants.
void Compact(Graph* graph);

}  // namespace ge
