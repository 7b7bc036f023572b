// UTF-8: checks text and writes characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ge {

// Whether UTF-8 can hold the character `code`: no surrogate, and not beyond U+10FFFF.
constexpr bool IsCodePoint(uint32_t code) {
  return code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
}

// Neither overlong forms nor surrogates.
bool IsUtf8(std::string_view text);

// Appends a code point.
void AppendUtf8(uint32_t code, std::string* to);

}  // namespace ge
