// DepthToSpace and SpaceToDepth. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/units/unit.h"

namespace ge_engines {

// Reorders elements. Along each axis `size` elements, `times` elements apart along axis `x` of the
// input, `to` elements apart in the dense result.
struct MoveSpec {
  struct Axis {
    int64_t size, x, times, to;
  };
  std::vector<Axis> axes;
  static const UnitKind kKind;
};

}  // namespace ge_engines
