// recognise-gelu: x/2 * (1 + erf(x / sqrt 2)), and the same with tanh(sqrt(2/pi) * (x + 0.044715
// x^3)) for erf, in any order and with any products written by exporters: becomes Gelu. f32 and
// f64, and 16-bit types where results may be rounded less often than the model says
// (PassContext::price_each is set). Not when another node reads a value between, or when a constant
// is off by more than 1e-6 of itself (16 bits: by more than their rounding explains). Changes the
// graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class RecogniseGelu : public Pass {
 public:
  std::string_view name() const override { return "recognise-gelu"; }
  std::string_view summary() const override { return "the steps of a Gelu become one Gelu"; }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
