// ge.MaxPoolGrad. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// ge.MaxPoolGrad; in: dY, x.
struct PoolGradSpec {
  Dims x, dy, kernel, stride, dilation, pad_l;
  static const UnitKind kKind;
};

}  // namespace ge_engines
