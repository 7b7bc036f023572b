// CumSum. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct CumSumSpec {  // in: x
  int axis = 0;
  bool exclusive = false, reverse = false;
  static const UnitKind kKind;
};

}  // namespace ge_engines
