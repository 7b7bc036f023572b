// Where of elements of 4 bytes. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in: condition, x, z; of 4-byte types
struct WhereSpec {
  static const UnitKind kKind;
};

}  // namespace ge_engines
