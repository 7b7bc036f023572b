// Pow of float64 by float64. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct DoublePowerSpec {  // in: x and its exponents
  static const UnitKind kKind;
};

}  // namespace ge_engines
