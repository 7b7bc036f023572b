// UTF-8: what is a text of it, and how a character is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ge {

// Whether `code` is a character that UTF-8 can hold: no surrogate, and not beyond U+10FFFF.
constexpr bool IsCodePoint(uint32_t code) {
  return code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
}

// Neither overlong forms nor surrogates.
bool IsUtf8(std::string_view text);

// Appends a code point.
void AppendUtf8(uint32_t code, std::string* to);

}  // namespace ge
