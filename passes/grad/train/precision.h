// Mixed precision: products and convolutions of float32 on 16-bit floats, with float32 weights, and
// the factor that keeps small gradients from vanishing. One thread.
#pragma once

#include <vector>

#include "passes/grad/kit.h"
#include "passes/grad/train/settings.h"

namespace ge::grad {

// Casts the inputs of products and convolutions to `dtype`, and their outputs back.
void ComputeInHalves(Fn& fn, int32_t dtype);

// The loss is multiplied by a factor, and gradients are divided by it. An update with a gradient
// that is not finite is left out; then a moving factor is halved, and doubled after so many updates
// without such.
class LossScale {
 public:
  // Makes the states train.scale, train.updates and, for a moving factor, train.good.
  LossScale(Fn& fn, const TrainSettings& settings);
  Val Scaled(Val change) const;
  Val Unscaled(Val gradient) const;
  // The number of updates not left out: float64.
  Val updates() const { return fn_.Cast(updates_, GE_F64); }
  // Whether this step moves weights: where `now` (absent: always) and all gradients are finite.
  // Writes the states.
  Val Moves(const std::vector<Val>& gradients, Val now);
  // Gives the states their first values, in any function.
  void BeginAnew(Fn& fn) const;

 private:
  Fn& fn_;
  const TrainSettings& s_;
  uint32_t scale_state_ = 0, updates_state_ = 0, good_state_ = 0;
  Val scale_, updates_, good_;
};

}  // namespace ge::grad
