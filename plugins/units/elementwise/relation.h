// Comparisons and functions of bools. Pure; any thread.
#pragma once

#include "plugins/units/functions.h"
#include "plugins/units/unit.h"

namespace ge_engines {

struct RelationSpec {  // in: two of one dtype, one of kNot; out: bool, or float32 before a Cast
  Relation op = Relation::kEqual;
  static const UnitKind kKind;
};

}  // namespace ge_engines
