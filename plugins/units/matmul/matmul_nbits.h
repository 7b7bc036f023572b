// com.microsoft.MatMulNBits: weights of 2, 4 or 8 bits. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

struct NBitsSpec {  // MatMulNBits; in: a, weights, scales, zero points or 0; all but a constant
  int64_t n = 0, k = 0;
  NBitsForm form;
  bool narrow = false;  // its accuracy_level permits x in steps of 8 bits
  static const UnitKind kKind;
};

}  // namespace ge_engines
