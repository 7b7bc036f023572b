// Range. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct RangeSpec {  // in: start, limit, delta; float32, int32 or int64
  static const UnitKind kKind;
};

}  // namespace ge_engines
