// GridSample of images. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct GridSpec {  // GridSample of images; in: x, grid
  bool nearest = false, corners = false;
  enum Beyond { kZeros, kBorder, kReflection } beyond = kZeros;
  static const UnitKind kKind;
};

}  // namespace ge_engines
