// Parts of a model whose values are known: some nodes as a graph of their own, with what they read
// as inputs. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ge/control/value.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/capsule/reduce/fewest_nodes.h"

namespace ge::tool {

struct ModelPart {
  Graph graph;  // its one entry is "main"
  std::vector<FlowValue> inputs, results;
  std::vector<std::string> input_names, result_names, nodes;
  std::vector<ValueId> result_ids;  // in the model
};

class KnownModel {
 public:
  // `values`: of the entry's function, by id; kNone for one that is not known. Only a tensor of
  // numbers may become an input.
  KnownModel(Graph graph, std::string entry, std::vector<FlowValue> values);

  const Function& main() const { return graph_.fn(fn_); }
  const FlowValue& value(ValueId id) const { return values_[id]; }
  bool is_known(ValueId id) const;
  // All nodes and results.
  NodeChoice Whole() const;
  // The chosen nodes, and those that must come with them: makers of values that cannot be inputs,
  // and what had an effect on the same state before.
  ModelPart Part(const NodeChoice& choice) const;
  // Nodes in all functions that the entry reaches.
  size_t nodes() const;

 private:
  std::vector<bool> Closed(std::vector<bool> keep) const;
  void FixInputs(Graph* graph) const;

  Graph graph_;
  std::string entry_;
  FunctionId fn_ = 0;
  std::vector<FlowValue> values_;
  std::vector<bool> varies_;  // by value: it depends on an input, a state or chance
};

size_t CountNodes(const Graph& graph);
TensorView ViewOf(const FlowValue& value);

}  // namespace ge::tool
