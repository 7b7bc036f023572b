// TopK. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct TopKSpec {  // in: x, k; out: values or 0, places or 0
  int axis = 0;
  bool largest = true;
  static const UnitKind kKind;
};

}  // namespace ge_engines
