// fold-batchnorm: Conv or ConvTranspose, then BatchNormalization in inference mode, f32, all
// weights constant: scales weights and bias in double and rounds once. Not when another node
// reads the convolution.
// Changes the graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class FoldBatchnorm : public Pass {
 public:
  std::string_view name() const override { return "fold-batchnorm"; }
  std::string_view summary() const override {
    return "a BatchNormalization after a convolution becomes part of its weights";
  }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
