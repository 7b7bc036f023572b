// Concat. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct ConcatSpec {
  int axis = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
