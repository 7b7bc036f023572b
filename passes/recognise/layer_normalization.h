// recognise-layer-normalization: d = x - mean(x), d / sqrt(mean(d^2) + epsilon) over the last axes,
// then, when they are there, the product with a scale and the sum with a bias of the normalised
// shape: becomes LayerNormalization. d^2 may be Pow or Mul, the quotient a product with a
// Reciprocal. f32 alone: the operator computes other types in f32. Not when another node reads a
// value between.
// Changes the graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class RecogniseLayerNormalization : public Pass {
 public:
  std::string_view name() const override { return "recognise-layer-normalization"; }
  std::string_view summary() const override {
    return "the steps of a layer normalisation become one LayerNormalization";
  }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
