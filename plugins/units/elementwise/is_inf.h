// IsInf and IsNaN. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct IsInfSpec {  // in: float16, bfloat16, float32 or float64; out: bool
  bool nan = false;
  bool negative = true, positive = true;  // of IsInf
  static const UnitKind kKind;
};

}  // namespace ge_engines
