// Pointwise functions of one or two float32 tensors. Other units take them along as post-ops. Pure;
// any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// in[0], then post-ops
struct PointwiseSpec {
  static const UnitKind kKind;
};
bool ParseBinary(const Parser& parser, uint32_t i, Unit* unit, Why* why);

}  // namespace ge_engines
