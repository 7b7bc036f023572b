// fold-bias: Conv or ConvTranspose, then Add of a constant with one number for each output channel,
// or for all, f32: the constant becomes the convolution's bias, or is added to the present one.
// Exporters without biases write so. Not when another node reads the convolution. Changes the graph
// through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class FoldBias : public Pass {
 public:
  std::string_view name() const override { return "fold-bias"; }
  std::string_view summary() const override {
    return "an Add of a number for each channel after a convolution becomes its bias";
  }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
