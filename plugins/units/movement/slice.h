// Slice and Split. Pure; any thread.
#pragma once

#include <vector>

#include "plugins/units/unit.h"

namespace ge_engines {

struct Box {
  Dims start, step;
};
struct SliceSpec {  // one box for each output: Slice, Split
  std::vector<Box> boxes;
  static const UnitKind kKind;
};

}  // namespace ge_engines
