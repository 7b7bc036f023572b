// Pixels of images, walked in their order in memory. Plain values; any thread.
#pragma once

#include <cstdint>

namespace ge_engines::cpu::native {

// The image of a pixel and its position in an image of `size` pixels along three axes.
struct Pixel {
  int64_t image, at[3];
};
inline Pixel PixelAt(const int64_t (&size)[3], int64_t i) {
  const int64_t image = size[0] * size[1] * size[2], line = i % image / size[2];
  return {i / image, {line / size[1], line % size[1], i % image % size[2]}};
}
inline void Advance(const int64_t (&size)[3], Pixel* pixel) {
  if (++pixel->at[2] < size[2]) return;
  pixel->at[2] = 0;
  if (++pixel->at[1] < size[1]) return;
  pixel->at[1] = 0;
  if (++pixel->at[0] < size[0]) return;
  pixel->at[0] = 0;
  ++pixel->image;
}

}  // namespace ge_engines::cpu::native
