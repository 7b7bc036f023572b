#include "tools/ge/png.h"

#include <zlib.h>

namespace ge::tool {
namespace {

void AppendBig(uint32_t v, std::string* to) {
  for (int shift = 24; shift >= 0; shift -= 8) *to += static_cast<char>(v >> shift);
}

void AppendChunk(const char* type, const std::string& content, std::string* to) {
  const std::string body = type + content;
  AppendBig(static_cast<uint32_t>(content.size()), to);
  *to += body;
  AppendBig(static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                        static_cast<uInt>(body.size()))),
            to);
}

}  // namespace

std::string PngOf(uint32_t width, uint32_t height, std::span<const uint8_t> pixels,
                  std::span<const uint8_t> palette) {
  std::string head;
  AppendBig(width, &head);
  AppendBig(height, &head);
  head += {8, palette.empty() ? '\2' : '\3', 0, 0, 0};  // bits, colours, three methods
  const size_t row = size_t{width} * (palette.empty() ? 3 : 1);
  std::string rows;
  for (size_t y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(pixels.data()) + y * row, row);
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, 0);
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(size);
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk("IHDR", head, &png);
  if (!palette.empty()) {
    AppendChunk("PLTE", {reinterpret_cast<const char*>(palette.data()), palette.size()}, &png);
  }
  AppendChunk("IDAT", packed, &png);
  AppendChunk("IEND", "", &png);
  return png;
}

}  // namespace ge::tool
