// QuantizeLinear, DynamicQuantizeLinear and DequantizeLinear. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

// One scale for each of `dim` slices of a tensor [outer, dim, inner]; 1: one scale for all.
struct QuantGrid {
  int64_t outer = 1, dim = 1, inner = 1;
};
struct QuantizeSpec {  // in: x, scale, zero or 0, or x alone; out: y, then maybe scale and zero
  QuantGrid grid;
  static const UnitKind kKind;
};
struct DequantizeSpec {  // in: x, scale, zero or 0
  QuantGrid grid;
  static const UnitKind kKind;
};

}  // namespace ge_engines
