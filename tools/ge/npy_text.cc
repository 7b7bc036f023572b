#include "tools/ge/npy_text.h"

#include <fmt/format.h>

#include <charconv>

#include "ge/base/text/utf8.h"

namespace ge::tool {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 31;  // of an element; NumPy's own limit

// The character whose four bytes begin at `p`.
uint32_t CodeAt(const std::byte* p, bool big_endian) {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    code = code << 8 | std::to_integer<uint32_t>(p[big_endian ? i : 3 - i]);
  }
  return code;
}

}  // namespace

std::optional<NpyText> ParseNpyText(std::string_view descr) {
  if (descr.size() < 3) return std::nullopt;
  const char order = descr[0], kind = descr[1];
  if (kind == 'U' ? order != '<' && order != '>' : kind != 'S' || order != '|') return std::nullopt;
  NpyText text;
  text.wide = kind == 'U';
  text.big_endian = order == '>';
  const char* end = descr.data() + descr.size();
  const auto [stop, error] = std::from_chars(descr.data() + 2, end, text.width);
  const bool number = error == std::errc() && stop == end;
  if (!number || text.width < 1 || text.width > kMostBytes / 4) return std::nullopt;
  return text;
}

Result<std::vector<std::string>> ReadNpyTexts(const NpyText& text, int64_t count,
                                              const std::byte* data) {
  const auto bad = [](int64_t i, const std::string& what) {
    return Status(Code::kDataCorrupt, fmt::format("its text {} {}", i, what));
  };
  std::vector<std::string> all;
  all.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i, data += text.bytes()) {
    std::string s;
    if (text.wide) {
      int64_t length = text.width;
      while (length > 0 && CodeAt(data + 4 * (length - 1), text.big_endian) == 0) --length;
      for (int64_t k = 0; k < length; ++k) {
        const uint32_t code = CodeAt(data + 4 * k, text.big_endian);
        if (!IsCodePoint(code)) {
          return bad(i, fmt::format("has the code point {:#x}, which is no character", code));
        }
        AppendUtf8(code, &s);
      }
    } else {
      std::string_view bytes(reinterpret_cast<const char*>(data), static_cast<size_t>(text.width));
      s = bytes.substr(0, bytes.find_last_not_of('\0') + 1);
      if (!IsUtf8(s)) return bad(i, "is not UTF-8; save it as numpy's str");
    }
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace ge::tool
