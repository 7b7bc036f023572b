// Pixels of a convolution's result, walked in their order in memory. Plain values; any thread.
#pragma once

#include <cstdint>

#include "plugins/cpu/kit/conv_pieces.h"

namespace ge_native {

using namespace ge_cpu;

// A pixel of the result: its image and place.
struct Pixel {
  int64_t image, at[3];
};
inline Pixel PixelAt(const ConvShape& s, int64_t i) {
  const int64_t in_image = i % s.dst_pixels(), line = in_image / s.dst[2];
  return {i / s.dst_pixels(), {line / s.dst[1], line % s.dst[1], in_image % s.dst[2]}};
}
inline void Advance(const ConvShape& s, Pixel* p) {
  if (++p->at[2] < s.dst[2]) return;
  p->at[2] = 0;
  if (++p->at[1] < s.dst[1]) return;
  p->at[1] = 0;
  if (++p->at[0] < s.dst[0]) return;
  p->at[0] = 0, ++p->image;
}

}  // namespace ge_native
