// Steps of optimizers: ge.AdamStep, ge.MomentumStep and so on. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

// ge.AdamStep, ge.MomentumStep and so on; in and out as in the nodes. `beta1` is the momentum,
// `beta2` RMSProp's alpha.
struct StepSpec {
  StepRule rule = StepRule::kMomentum;
  bool apart = false;  // weights decay beside the gradient
  bool ahead = false;  // Nesterov's
  bool when = false;   // the last input says whether the step is taken
  double beta1 = 0, beta2 = 0, eps = 0, decay = 0, trust = 0;
  bool adam() const { return rule == StepRule::kAdam || rule == StepRule::kLamb; }
  size_t slots() const { return adam() ? 2 : 1; }
  size_t scalars() const { return adam() ? 3 : 1; }
  static const UnitKind kKind;
};

}  // namespace ge_engines
