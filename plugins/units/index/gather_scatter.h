// GatherElements, ScatterElements, GatherND and ScatterND. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// Places named by integers; in: data and indices, or data, indices and updates.
struct IndexSpec {
  bool scatter = false;
  Update update = Update::kReplace;  // in their order
  bool tuples = false;               // GatherND and ScatterND; else one index along `axis`
  int axis = 0;                      // of tuples: how many axes are batches
  static const UnitKind kKind;
};

}  // namespace ge_engines
