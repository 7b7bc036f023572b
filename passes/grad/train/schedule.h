// The rate at which an optimizer moves, as a function of the number of updates so far: in float64,
// as PyTorch's schedulers calculate it. One thread.
#pragma once

#include "passes/grad/kit.h"
#include "passes/grad/train/settings.h"

namespace ge::grad {

// `done`: float64 scalar, updates before this one. With a warm-up the rate rises in equal steps to
// lr first, and the schedule begins, and counts its own steps, behind it.
Val RateAt(const TrainSettings& settings, Val done);

}  // namespace ge::grad
