// MaxUnpool of numbers of 2, 4 and 8 bytes. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in: x, indices. Indices count in a tensor of `dims`; it lies in a corner of the result.
struct MaxUnpoolSpec {
  Dims dims;
  static const UnitKind kKind;
};

}  // namespace ge_engines
