// Add, Sub, Mul, Div, Max and Min of numbers other than float32 (those: pointwise.h). Pure; any
// thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct ArithmeticSpec {  // in[0] fn in[1]
  Fn fn = Fn::kAdd;
  static const UnitKind kKind;
};

}  // namespace ge_engines
