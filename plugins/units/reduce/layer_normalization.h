// LayerNormalization and RMSNormalization of rows. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct LayerNormSpec {  // in: x, gamma or 0, beta or 0
  float eps = 0;
  bool centered = true;  // else by the root of the mean square, without a beta
  static const UnitKind kKind;
};

}  // namespace ge_engines
