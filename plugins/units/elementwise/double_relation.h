// Comparisons of float64. Pure; any thread.
#pragma once

#include "plugins/units/elementwise/relation.h"

namespace ge_engines {

struct DoubleRelationSpec {  // in: two; out: bool
  Relation op = Relation::kEqual;
  static const UnitKind kKind;
};

}  // namespace ge_engines
