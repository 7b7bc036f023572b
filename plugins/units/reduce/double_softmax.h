// Softmax and LogSoftmax of float64. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct DoubleSoftmaxSpec {  // in: x
  int axis = 0;
  bool log = false;
  static const UnitKind kKind;
};

}  // namespace ge_engines
