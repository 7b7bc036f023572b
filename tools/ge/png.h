// PNG pictures of 8 bits as bytes, without filters. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ge::tool {

// Rows of `width` pixels, one behind the other: RGB, or with a palette (of RGB) its indices.
std::string PngOf(uint32_t width, uint32_t height, std::span<const uint8_t> pixels,
                  std::span<const uint8_t> palette = {});

}  // namespace ge::tool
