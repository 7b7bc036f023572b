// widen-halves: nodes on float16 and bfloat16 that engines compute more cheaply in float32 become
// such, with a Cast where a value leaves or enters 16 bits. What lies between two of them stays
// float32, so that nothing is rounded there: results are nearer to the exact ones. Constants are
// converted once. What a node costs either way, and what casts cost, engines say; the choice is the
// cheapest for a whole function. Left alone: parameters and results of functions, states, casts to
// 16 bits, quantization and what looks at bits or at infinities.
// Changes the graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class WidenHalves : public Pass {
 public:
  std::string_view name() const override { return "widen-halves"; }
  std::string_view summary() const override {
    return "what is computed with 16-bit floats is computed in float32 where that is cheaper";
  }
  PassKind kind() const override { return PassKind::kLower; }
  // Once for all shapes: weights are converted then.
  uint8_t phases() const override { return kAtLoad; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
