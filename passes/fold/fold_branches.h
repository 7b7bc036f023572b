// fold-branches: merges convolutions of one tensor whose results are added into one with the sums
// of their weights. It also merges a BatchNormalization of that tensor beside one, as a diagonal of
// 1x1, and the tensor itself beside a depth-wise one or one to be made anew anyway. Smaller windows
// lie inside of the largest, with zeros around. RepVGG, MobileOne, FastViT and PP-OCRv5 train with
// such branches and are often exported as trained: PP-OCRv5's recogniser has six convolutions where
// one does. Weights and biases must be f32 constants, and only the sum may read the results. Sums
// are rounded to f32 one by one. Changes the graph through the Transaction alone; holds no state
// between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class FoldBranches : public Pass {
 public:
  std::string_view name() const override { return "fold-branches"; }
  std::string_view summary() const override {
    return "convolutions of one tensor that are added become one";
  }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
