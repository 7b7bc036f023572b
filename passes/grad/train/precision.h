// Mixed precision: products and convolutions of float32 on 16-bit floats, with weights that stay
// float32; and the factor that keeps small gradients of such from vanishing. One thread.
#pragma once

#include <vector>

#include "passes/grad/kit.h"
#include "passes/grad/train/settings.h"

namespace ge::grad {

// Casts what products and convolutions read to `dtype`, and what they make back.
void ComputeInHalves(Fn& fn, int32_t dtype);

// The loss is multiplied by a factor, and gradients are divided by it. An update whose gradients
// are not all finite is left out; with a factor that moves it is halved then, and doubled after so
// many updates without such a one.
class LossScale {
 public:
  // Makes the states train.scale, train.updates and, of one that moves, train.good.
  LossScale(Fn& fn, const TrainSettings& settings);
  Val Scaled(Val change) const;
  Val Unscaled(Val gradient) const;
  // How many updates were not left out: float64.
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
