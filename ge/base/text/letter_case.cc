#include "ge/base/text/letter_case.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>

#include "ge/base/text/utf8.h"

namespace ge {
namespace {

// Of UTF-8; 0 where the machine has none. Never freed: texts come until the process ends.
locale_t Utf8Locale() {
  static const locale_t made = [] {
    locale_t l = nullptr;
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
      if (l == nullptr) l = newlocale(LC_CTYPE_MASK, name, nullptr);
    }
    return l;
  }();
  return made;
}

char OfAscii(char c, LetterCase letters) {
  if (letters == LetterCase::kUpper) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The code point that begins at `i`, which moves behind it. The text is UTF-8.
uint32_t NextCode(std::string_view text, size_t* i) {
  const auto c = static_cast<unsigned char>(text[(*i)++]);
  const int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
  uint32_t code = more == 0 ? c : c & (0x3fu >> more);
  for (int k = 0; k < more; ++k) {
    code = code << 6 | (static_cast<unsigned char>(text[(*i)++]) & 0x3fu);
  }
  return code;
}

}  // namespace

Result<std::string> InCase(std::string_view text, LetterCase letters) {
  std::string out;
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) {
    for (const char c : text) out += OfAscii(c, letters);
    return out;
  }
  if (!IsUtf8(text)) {
    return Status(Code::kInvalidArgument, "the text is no UTF-8, so that its letters have no case");
  }
  const locale_t locale = Utf8Locale();
  if (locale == nullptr) {
    return Status(Code::kUnsupported,
                  "this machine has no locale of UTF-8, which says what case letters beyond ASCII "
                  "have; install C.UTF-8 or en_US.UTF-8 (Debian: libc-bin)");
  }
  for (size_t i = 0; i < text.size();) {
    const auto code = static_cast<wint_t>(NextCode(text, &i));
    const wint_t made =
        letters == LetterCase::kUpper ? towupper_l(code, locale) : towlower_l(code, locale);
    AppendUtf8(static_cast<uint32_t>(made), &out);
  }
  return out;
}

}  // namespace ge
