// widen-halves: converts nodes on float16 and bfloat16 to float32 where engines compute it more
// cheaply, with a Cast where a value leaves or enters 16 bits. Values between two such nodes stay
// float32, so nothing is rounded there: results are nearer to the exact ones. Constants are
// converted once. Engines give the price of a node either way, and of casts; the choice is the
// cheapest for a whole function. Left alone: parameters and results of functions, states, casts to
// 16 bits, quantization and operators on bits or infinities. Changes the graph through the
// Transaction alone; holds no state between runs; one thread.
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
