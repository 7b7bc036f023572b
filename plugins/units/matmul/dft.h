// DFT of float32 along one axis. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

struct DftSpec {       // in: x as [outer, in, inner, in_parts]; out: [outer, out, inner, out_parts]
  int64_t length = 1;  // of the transform
  int64_t outer = 1, in = 1, inner = 1, out = 1;
  int64_t in_parts = 1, out_parts = 2;
  bool inverse = false;
  bool mirrored = false;  // the input is the first half of a real signal's spectrum
  static const UnitKind kKind;
};

}  // namespace ge_engines
