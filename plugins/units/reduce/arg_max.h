// ArgMax and ArgMin. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct ArgSpec {  // in: x; out: places, int64
  int axis = 0;
  bool least = false, last = false;
  static const UnitKind kKind;
};

}  // namespace ge_engines
