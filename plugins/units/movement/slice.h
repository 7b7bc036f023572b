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
// A box by strides: those of the tensor, and from then on the box's. Returns where it begins.
int64_t BeginOf(const Box& box, Dims* strides);
// Whether a step goes backwards.
bool GoesBack(const Box& box);

}  // namespace ge_engines
