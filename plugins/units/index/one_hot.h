// OneHot. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct OneHotSpec {  // in: indices of int32 or int64, depth (one of either), values: off, on
  int axis = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
