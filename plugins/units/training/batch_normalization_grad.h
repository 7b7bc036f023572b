// ge.BatchNormalizationGrad. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in: dY, x, scale, mean, variance; out: dX, dscale, dB
struct BatchNormGradSpec {
  float eps = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
