// Letters in upper or lower case, of any script, one code point for one: Unicode's simple mappings
// as the C library has them. "ß" has no upper case of one code point and stays. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "ge/base/status.h"

namespace ge {

enum class LetterCase : uint8_t { kLower, kUpper };

// INVALID_ARGUMENT where the text is no UTF-8. UNSUPPORTED where it has others than ASCII's
// characters and the machine has no locale of UTF-8, which Debian's libc-bin brings ("C.UTF-8").
Result<std::string> InCase(std::string_view text, LetterCase letters);

}  // namespace ge
