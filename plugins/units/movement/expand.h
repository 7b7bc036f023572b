// Expand. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct ExpandSpec {
  static const UnitKind kKind;
};

}  // namespace ge_engines
