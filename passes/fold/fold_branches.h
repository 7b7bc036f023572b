// fold-branches: convolutions of one tensor whose results are added become one, whose weights are
// the sums of theirs; so does a BatchNormalization of that tensor beside one, a diagonal of 1x1,
// and the tensor itself beside a depth-wise one or one that is made anew anyway. Smaller windows
// lie inside of the largest, with zeros around. RepVGG, MobileOne, FastViT and PP-OCRv5 train with
// such branches and are often exported as they were trained: PP-OCRv5's recogniser has six
// convolutions where one does. For weights and biases that are f32 constants and results that the
// sum alone reads. Sums are rounded to f32 one by one. Changes the graph through the Transaction
// alone; holds no state between runs; one thread.
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
