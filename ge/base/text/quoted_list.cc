#include "ge/base/text/quoted_list.h"

#include <fmt/format.h>

namespace ge {

Result<std::vector<std::string_view>> SplitQuoted(std::string_view list, char separator) {
  std::vector<std::string_view> out;
  char quote = 0;
  size_t first = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == separator) {
      out.push_back(list.substr(first, i - first));
      first = i + 1;
    }
  }
  if (quote != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a quote {} has no end in: {}", quote, list.substr(first)));
  }
  if (first < list.size()) out.push_back(list.substr(first));
  return out;
}

std::string_view Unquoted(std::string_view text) {
  const bool pair = text.size() >= 2 && (text[0] == '\'' || text[0] == '"') &&
                    text.find(text[0], 1) == text.size() - 1;
  return pair ? text.substr(1, text.size() - 2) : text;
}

}  // namespace ge
