// Col2Im of float32 and float64. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct Col2ImSpec {    // in: x [batch, channels * taps, places]; out: [batch, channels, size...]
  int64_t planes = 1;  // of all images
  Dims size, block, count;  // of an image, of a block, of blocks: by spatial axis
  Dims stride, dilation, pad;
  static const UnitKind kKind;
};

}  // namespace ge_engines
