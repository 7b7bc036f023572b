// Pointwise functions of float32 and of one or two tensors, which other units take along as posts.
// Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// in[0], then posts
struct PointwiseSpec {
  static const UnitKind kKind;
};
bool ParseBinary(const Parser& parser, uint32_t i, Unit* unit, Why* why);

}  // namespace ge_engines
