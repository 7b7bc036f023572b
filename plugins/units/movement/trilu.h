// Trilu. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

struct TriangleSpec {  // Trilu; in: x
  bool upper = true;
  int64_t diagonal = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
