// Quantized weights: DequantizeLinear of constants alone. REWRITE leaves it where an engine
// may multiply the quantized values (passes/quant/quantized_groups.h). PLACE's market settles
// each: it stays as part of the cheapest pattern, or its floats become a constant, as if
// folded.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/stage/pass.h"

namespace ge {

// Whether the node dequantizes constants of the graph.
bool IsQuantizedWeight(const Graph& graph, const Function& function, const Node& node);
// The nodes among them that a Conv, Gemm or MatMul reads behind its first input.
std::vector<NodeId> QuantizedWeightsOf(const Graph& graph, const Function& function);

// A constant to stand for one of this type where only types are read: zeros, without memory until
// they are read.
Const StandIn(const Type& type);

// The floats of a session's quantized weights, made once for all plans, so plans of other shapes
// share the engines' packs of them. Any thread.
class WeightFloats {
 public:
  // nullopt where they exceed the folding budget or nobody can make them.
  Result<std::optional<Const>> Of(const Graph& graph, const Function& function, const Node& node,
                                  Evaluator* evaluator);

 private:
  struct Made {
    std::vector<Const> from;  // keeps their payloads in place: the key has the addresses
    Const floats;
  };
  std::mutex mutex_;
  std::map<std::vector<const void*>, Made> made_;  // by payloads, axis and block
};

}  // namespace ge
