// Texts in NumPy's .npy files: 'U', four bytes a character in either order, and 'S', bytes of
// UTF-8. An element is as wide as the longest one; NULs at its end are padding, as for NumPy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"

namespace ge::tool {

struct NpyText {
  bool wide = false;  // 'U', else 'S'
  bool big_endian = false;
  int64_t width = 0;                                          // characters, or bytes of 'S'
  int64_t bytes() const { return wide ? 4 * width : width; }  // of an element
};

// Reads a descr such as <U5, >U5 or |S12; nothing for any other. An element has at least one byte,
// so that a file's size bounds their number, and at most 2^31.
std::optional<NpyText> ParseNpyText(std::string_view descr);

// `count` elements of `text.bytes()` bytes each, as UTF-8. An error names the faulty element and
// its fault.
Result<std::vector<std::string>> ReadNpyTexts(const NpyText& text, int64_t count,
                                              const std::byte* data);

}  // namespace ge::tool
