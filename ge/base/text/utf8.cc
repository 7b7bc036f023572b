#include "ge/base/text/utf8.h"

namespace ge {

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
    unsigned char c = byte(i);
    size_t more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : 9;
    if (more == 9 || more >= text.size() - i) return false;
    uint32_t code = more == 0 ? c : c & (0x3f >> more);
    for (size_t k = 1; k <= more; ++k) {
      if (byte(i + k) >> 6 != 2) return false;
      code = code << 6 | (byte(i + k) & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || !IsCodePoint(code)) return false;
    i += more + 1;
  }
  return true;
}

void AppendUtf8(uint32_t code, std::string* to) {
  if (code < 0x80) {
    *to += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  *to += static_cast<char>(kLead[more] | code >> (6 * more));
  for (int k = more; k-- > 0;) *to += static_cast<char>(0x80 | (code >> (6 * k) & 0x3f));
}

}  // namespace ge
