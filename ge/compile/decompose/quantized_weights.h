// Quantized weights: DequantizeLinear of constants alone, which REWRITE leaves where an engine may
// multiply the codes (passes/quant/quantized_groups.h). PLACE's market settles each: it stays,
// being part of a pattern that is cheapest, or its floats become a constant, as if it had been
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

// Whether it dequantizes constants that are here.
bool IsQuantizedWeight(const Graph& graph, const Function& function, const Node& node);
// Those among them that a Conv, Gemm or MatMul reads behind its first input.
std::vector<NodeId> QuantizedWeightsOf(const Graph& graph, const Function& function);

// A constant that stands for one of this type where only types are looked at: zeros, which take no
// memory until they are read.
Const StandIn(const Type& type);

// The floats of a session's quantized weights, made once however many plans want them, so that
// plans of other shapes share what engines pack of them. Any thread.
class WeightFloats {
 public:
  // nullopt where the budget of folding does not hold them or nobody can make them.
  Result<std::optional<Const>> Of(const Graph& graph, const Function& function, const Node& node,
                                  Evaluator* evaluator);

 private:
  struct Made {
    std::vector<Const> from;  // keeps their payloads where they are, which the key names
    Const floats;
  };
  std::mutex mutex_;
  std::map<std::vector<const void*>, Made> made_;  // by payloads, axis and block
};

}  // namespace ge
