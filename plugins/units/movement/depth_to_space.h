// DepthToSpace and SpaceToDepth. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/units/unit.h"

namespace ge_engines {

// Elements in another order: along each axis `size` of them, `times` elements of axis `x` of the
// input apart, `to` elements of the dense result.
struct MoveSpec {
  struct Axis {
    int64_t size, x, times, to;
  };
  std::vector<Axis> axes;
  static const UnitKind kKind;
};

}  // namespace ge_engines
