// Im2colTiles: how a convolution becomes products, the size of its tiles and of their buffers. It
// computes nothing and owns nothing. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/conv/conv.h"
#include "plugins/units/parser.h"

namespace ge_engines::cpu {

// One, two or three spatial axes, always stored as three; the last one has no gaps.
struct ConvShape {
  explicit ConvShape(const ConvSpec& spec);
  int64_t images = 1, groups = 1, in = 1, out = 1;  // channels of one group
  int64_t src[3], dst[3], kernel[3], stride[3], dilation[3], pad[3];

  int64_t src_pixels() const { return src[0] * src[1] * src[2]; }
  int64_t dst_pixels() const { return dst[0] * dst[1] * dst[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  enum How {
    kPlain,    // every pixel stays where it is: the product reads the input itself
    kGather,   // the windows are gathered, then multiplied
    kDeal,     // transposed, no two windows overlap: products are dealt out
    kScatter,  // transposed: products are added up where windows meet
  } how = kGather;
};

// Tiles of one image and group: a tile's buffer stays in a cache, and threads have tiles to share.
// A tile is some lines of pixels (kGather: of the result; kDeal: of the input) or some output
// channels (kScatter).
struct Im2colTiles {
  // `floats`: approximate size of a tile's buffer; `columns`: but at least so many pixels.
  Im2colTiles(const ConvShape& shape, int threads, int64_t floats, int64_t columns);
  int64_t items = 1, width = 1;  // lines and their pixels, or channels and their taps
  int64_t step = 1;              // items of a piece
  int64_t other = 1;             // the buffer's other dim: it has other * step * width floats
  int64_t count = 1;             // of an image and group
  uint64_t bytes() const;        // of one buffer
};

// False with the reason if the buffers of all threads, `bytes` each, would be too large.
bool BuffersFit(uint64_t bytes, int threads, Why* why);

}  // namespace ge_engines::cpu
