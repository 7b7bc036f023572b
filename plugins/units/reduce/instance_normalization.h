// InstanceNormalization. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct InstanceNormSpec {  // in: x, scale, bias
  float eps = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
