// BMP of Windows and OS/2 without compression: 1, 4 and 8 bits with a palette, 16, 24 and 32 bits
// as they are or by masks.
#include <bit>
#include <utility>

#include "ge/image/codec.h"

namespace ge_image {
namespace {

constexpr size_t kBmpFileHeader = 14;
constexpr uint32_t kBmpPlain = 0, kBmpMasks = 3, kBmpMasksWithAlpha = 6;

// Little-endian; the caller has checked that the bytes are there.
uint32_t BmpU16(Bytes in, size_t at) { return in[at] | static_cast<uint32_t>(in[at + 1]) << 8; }
uint32_t BmpU32(Bytes in, size_t at) { return BmpU16(in, at) | BmpU16(in, at + 2) << 16; }

struct BmpHeader {
  int64_t width = 0, height = 0;
  bool top_down = false;
  uint32_t bits = 0, compression = kBmpPlain, colors = 0;
  size_t data = 0;     // where the pixels begin
  size_t palette = 0;  // where the palette begins
  size_t entry = 4;    // bytes of one of its colours
  uint32_t masks[3] = {};
  int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
};

Outcome BmpReadMasks(Bytes in, size_t header, BmpHeader* h) {
  if (h->compression == kBmpPlain) {
    const uint32_t five[] = {0x7c00, 0x03e0, 0x001f}, eight[] = {0xff0000, 0xff00, 0xff};
    for (int i = 0; i < 3; ++i) h->masks[i] = h->bits == 16 ? five[i] : eight[i];
    return {};
  }
  // They stand behind the oldest header and inside the later ones, which is the same place.
  constexpr size_t kAt = kBmpFileHeader + 40;
  if (in.size() < kAt + 12) return Corrupt("its header is cut short");
  for (size_t i = 0; i < 3; ++i) {
    const uint32_t m = BmpU32(in, kAt + 4 * i);
    const uint32_t low = m == 0 ? 0 : m >> std::countr_zero(m);
    if (m == 0 || (low & (low + 1)) != 0 || (h->bits == 16 && m > 0xffff)) {
      return Corrupt("the mask of channel " + std::to_string(i) + " is " + std::to_string(m) +
                     ", wanted a run of bits");
    }
    h->masks[i] = m;
  }
  if (header == 40) h->palette += 12;
  return {};
}

// The kind of pixels; sizes are checked later.
Outcome BmpCheckKind(const BmpHeader& h) {
  if (h.compression != kBmpPlain && h.compression != kBmpMasks &&
      h.compression != kBmpMasksWithAlpha) {
    return Unsupported("its compression is " + std::to_string(h.compression) +
                       ", wanted none (0) or masks (3, 6)");
  }
  const bool masked = h.compression != kBmpPlain;
  for (const uint32_t bits : {1u, 4u, 8u, 16u, 24u, 32u}) {
    if (h.bits == bits && (!masked || bits == 16 || bits == 32)) return {};
  }
  return Unsupported("has " + std::to_string(h.bits) + " bits a pixel" +
                     (masked ? " by masks, wanted 16 or 32" : ", wanted 1, 4, 8, 16, 24 or 32"));
}

Outcome BmpReadHeader(Bytes in, BmpHeader* h) {
  if (in.size() < kBmpFileHeader + 12) return Corrupt("its header is cut short");
  const uint32_t header = BmpU32(in, kBmpFileHeader);
  const bool old = header == 12;
  if (!old && (header < 40 || header > 124)) {
    return Corrupt("its header has " + std::to_string(header) + " bytes, wanted 12 or 40 to 124");
  }
  if (in.size() < kBmpFileHeader + header) return Corrupt("its header is cut short");
  h->data = BmpU32(in, 10);
  if (old) {
    h->width = BmpU16(in, 18);
    h->height = BmpU16(in, 20);
    h->bits = BmpU16(in, 24);
    h->entry = 3;
  } else {
    h->width = static_cast<int32_t>(BmpU32(in, 18));
    h->height = static_cast<int32_t>(BmpU32(in, 22));
    h->bits = BmpU16(in, 28);
    h->compression = BmpU32(in, 30);
    h->colors = BmpU32(in, 46);
  }
  h->top_down = h->height < 0;
  if (h->top_down) h->height = -h->height;
  h->palette = kBmpFileHeader + header;
  if (Outcome kind = BmpCheckKind(*h); !kind.ok()) return kind;
  if (h->bits == 16 || h->bits == 32) return BmpReadMasks(in, header, h);
  if (h->bits <= 8) {
    const uint32_t most = 1u << h->bits;
    if (h->colors == 0 || h->colors > most) h->colors = most;
    if (in.size() < h->palette + h->colors * h->entry) return Corrupt("its palette is cut short");
  }
  return {};
}

Outcome BmpByPalette(Bytes in, const BmpHeader& h, const uint8_t* from, uint8_t* to) {
  const uint32_t each = 8 / h.bits;
  for (int64_t x = 0; x < h.width; ++x, to += 3) {
    const auto shift = 8 - h.bits - static_cast<uint32_t>(x % each) * h.bits;
    const uint32_t color = (from[x / each] >> shift) & ((1u << h.bits) - 1);
    if (color >= h.colors) {
      return Corrupt("a pixel has colour " + std::to_string(color) + ", its palette has " +
                     std::to_string(h.colors));
    }
    const size_t at = h.palette + color * h.entry;
    to[0] = in[at + 2];
    to[1] = in[at + 1];
    to[2] = in[at];
  }
  return {};
}

void BmpByMasks(const BmpHeader& h, const uint8_t* from, uint8_t* to) {
  const size_t each = h.bits / 8;
  for (int64_t x = 0; x < h.width; ++x, from += each, to += 3) {
    const uint32_t pixel = each == 2 ? BmpU16({from, 2}, 0) : BmpU32({from, 4}, 0);
    for (int i = 0; i < 3; ++i) {
      const int shift = std::countr_zero(h.masks[i]);
      // Cut, not rounded, as Pillow does.
      to[i] = static_cast<uint8_t>(uint64_t{(pixel & h.masks[i]) >> shift} * 255 /
                                   (h.masks[i] >> shift));
    }
  }
}

void BmpPlain24(const BmpHeader& h, const uint8_t* from, uint8_t* to) {
  for (int64_t x = 0; x < h.width; ++x, from += 3, to += 3) {
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
  }
}

}  // namespace

Outcome DecodeBmp(Bytes in, Canvas* canvas) {
  BmpHeader h;
  if (Outcome read = BmpReadHeader(in, &h); !read.ok()) return read;
  if (Outcome size = CheckSize(h.width, h.height); !size.ok()) return size;
  const int64_t row_bytes = h.row_bytes();
  // Some writers leave out what fills the last row.
  const int64_t wanted = row_bytes * (h.height - 1) + (h.width * h.bits + 7) / 8;
  const int64_t there = static_cast<int64_t>(in.size()) - static_cast<int64_t>(h.data);
  if (there < wanted) {
    return Corrupt("has " + std::to_string(there < 0 ? 0 : there) + " bytes of pixels from byte " +
                   std::to_string(h.data) + " on, wanted " + std::to_string(wanted));
  }
  if (Outcome begun = canvas->Begin(h.width, h.height); !begun.ok()) return begun;
  for (int64_t y = 0; y < h.height && !canvas->stopped(); ++y) {
    const uint8_t* from = in.data() + h.data + y * row_bytes;
    uint8_t* to = canvas->row(h.top_down ? y : h.height - 1 - y);
    if (h.bits <= 8) {
      if (Outcome row = BmpByPalette(in, h, from, to); !row.ok()) return row;
    } else if (h.bits == 24) {
      BmpPlain24(h, from, to);
    } else {
      BmpByMasks(h, from, to);
    }
  }
  return {};
}

}  // namespace ge_image
