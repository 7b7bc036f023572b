// Resize: nearest by whole factors (ResizeSpec), by one or two neighbours an axis (ResampleSpec),
// or by weighted sums (WeighSpec). Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/units/unit.h"

namespace ge_engines {

struct ResizeSpec {  // nearest, whole factors
  Dims factors;
  static const UnitKind kKind;
};
// Element i along an axis of a resized tensor: x[at] + w * (x[next] - x[at]), or x[at] if next and
// w are empty.
struct Taps {
  std::vector<int32_t> at, next;
  std::vector<float> w;
};
struct ResampleSpec {      // Resize, nearest by any factor or linear
  std::vector<Taps> taps;  // by axis; empty where the axis stays
  static const UnitKind kKind;
};
// Element i of an axis is the sum of w[first[i] ...] * x[from[i] ...] over first[i + 1] - first[i]
// neighbours; all are empty if the axis is unchanged.
struct WeighedAxis {
  std::vector<int32_t> from, first;
  std::vector<float> w;
};
struct WeighSpec {  // Resize, cubic or against aliases; in: x
  std::vector<WeighedAxis> axes;
  static const UnitKind kKind;
};

}  // namespace ge_engines
