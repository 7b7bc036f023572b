// Pointwise functions of one float64 tensor. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct DoublePointwiseSpec {  // in: x
  Fn fn = Fn::kLinear;
  double a = 0, b = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
