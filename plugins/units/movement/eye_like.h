// EyeLike. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct EyeSpec {         // in: a tensor of the matrix's dims, not read; out: a matrix
  int64_t diagonal = 0;  // columns to the right of the main one
  static const UnitKind kKind;
};

}  // namespace ge_engines
