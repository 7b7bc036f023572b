// Cast between numbers. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct CastSpec {
  static const UnitKind kKind;
};

}  // namespace ge_engines
