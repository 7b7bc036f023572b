// RoiAlign by means. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

struct RoiAlignSpec {  // in: x, rois, batch indices; the mean of samples
  int64_t rois = 0, batch = 0, channels = 0, height = 0, width = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t ratio = 0;  // samples along each axis of a bin; 0 = by the region's size
  double scale = 1;
  bool half_pixel = false;
  static const UnitKind kKind;
};

}  // namespace ge_engines
