// Reshape, Flatten, Squeeze, Unsqueeze and Identity: elements and their order stay. Pure; any
// thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// same elements in the same order
struct ViewSpec {
  static const UnitKind kKind;
};

}  // namespace ge_engines
