// PRelu. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in: x, slope
struct PReluSpec {
  static const UnitKind kKind;
};

}  // namespace ge_engines
