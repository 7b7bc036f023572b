// RotaryEmbedding. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct RotarySpec {  // in: x, cosines, sines, and with `ids` the rows of those for each token
  int64_t batch = 1, heads = 1, steps = 1, size = 1;  // of x
  int64_t batch_at = 0, head_at = 0, step_at = 0;     // elements between neighbours
  int64_t half = 0;                                   // pairs of a head that are turned
  int64_t positions = 0;                              // rows of the cosines, with ids
  bool interleaved = false, ids = false;
  static const UnitKind kKind;
};

}  // namespace ge_engines
