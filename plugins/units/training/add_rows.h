// ge.AddRows. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// ge.AddRows; in: data, indices, updates
struct AddRowsSpec {
  static const UnitKind kKind;
};

}  // namespace ge_engines
