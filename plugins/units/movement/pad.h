// Pad. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in: x, then the filling or nothing; axes begin at -before. Axes without pads are merged with the
// axis before them.
struct FillPadSpec {
  Dims x, y, before;
  static const UnitKind kKind;
};

}  // namespace ge_engines
