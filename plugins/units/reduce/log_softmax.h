// LogSoftmax. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct LogSoftmaxSpec {  // in: x
  int axis = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
