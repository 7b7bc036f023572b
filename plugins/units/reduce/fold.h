// Reductions of integers and bools, and those of float32 that are neither sums nor extremes
// (reduce.h). Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct FoldSpec {  // in: x; out: as x, or bool
  FoldOp op = FoldOp::kSum;
  Dims axes;
  static const UnitKind kKind;
};

}  // namespace ge_engines
