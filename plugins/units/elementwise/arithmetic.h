// Arithmetic of numbers other than float32, and functions of the bits of integers. Pure; any
// thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in[0] fn in[1] fn in[2] ..., of one input with `number`; kClip: x, its least and its greatest
// value, of which either may be absent.
struct ArithmeticSpec {
  Fn fn = Fn::kAdd;
  int64_t number = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
