// Det and com.microsoft's Inverse of float32 and float64. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

struct EliminationSpec {  // in: `count` matrices of n x n
  bool inverse = false;   // else their determinants
  int64_t n = 1, count = 1;
  static const UnitKind kKind;
};

}  // namespace ge_engines
