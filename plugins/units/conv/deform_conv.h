// DeformConv of float32 images of two axes. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// in: x, weights, offsets, then a bias and a mask where there are any.
struct DeformConvSpec {
  int64_t images = 1, groups = 1, in = 1, out = 1;  // channels of one group
  int64_t offset_groups = 1;
  int64_t src[2], dst[2], kernel[2], stride[2], dilation[2], pad[2];
  bool bias = false, mask = false;
  static const UnitKind kKind;

  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t channels() const { return groups * in; }
  int64_t src_pixels() const { return src[0] * src[1]; }
  int64_t dst_pixels() const { return dst[0] * dst[1]; }
};

}  // namespace ge_engines
