// Transpose. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct TransposeSpec {
  Dims perm;
  static const UnitKind kKind;
};

}  // namespace ge_engines
