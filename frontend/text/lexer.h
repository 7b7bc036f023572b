// Lexer of the .gt text: words, numbers, strings and punctuation, each with its line and column.
// Tokens point into the text, which must outlive them. Used by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"

namespace ge::text {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,    // Conv, f32, kernel_shape
  kString,  // "any \"text\"": `text` is the part between the quotes, with its escapes
  kInt,     // 12; a sign is punctuation
  kFloat,   // 1.5, 1e-3
  kPunct,   // one of the characters ( ) [ ] { } , : ; = @ + - * . % $ ? or the pairs -> and ..
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint32_t line = 1, column = 1;
  std::string_view text;
};

// The whole text as tokens; the last is kEnd. `#` and `//` begin a comment up to the end of the
// line. DATA_CORRUPT names the place of an illegal character or string.
Result<std::vector<Token>> Lex(std::string_view text, std::string_view file_name);

bool IsWord(std::string_view text);  // could stand in the text without quotes
// The text as a quoted string of one line; any bytes are representable.
std::string Quote(std::string_view text);
// Inverse of Quote for the part between the quotes; false on an unknown escape.
bool Unquote(std::string_view inner, std::string* out);
std::string ToHex(const void* bytes, size_t size);
bool FromHex(std::string_view hex, std::string* out);

}  // namespace ge::text
