#include "tools/ge/observe/watch_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ge::tool {

Result<WatchConditions> WatchConditions::Parse(std::string_view text) {
  WatchConditions out;
  constexpr std::string_view kAbove = "abs>";
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word(text.substr(at, end - at));
    at = end + 1;
    if (word == "nan") {
      out.nan = true;
      continue;
    }
    if (word == "inf") {
      out.inf = true;
      continue;
    }
    char* rest = nullptr;
    const double bound =
        word.starts_with(kAbove) ? std::strtod(word.c_str() + kAbove.size(), &rest) : 0;
    const bool number = rest != nullptr && *rest == 0 && rest != word.c_str() + kAbove.size();
    if (!number || !(bound >= 0)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("--watch has '{:.64}', wanted nan, inf or abs>NUMBER, with commas "
                      "between them{}",
                      word,
                      word == "abs" ? "; in quotes, since a shell takes > for a file's" : ""));
    }
    out.above = std::min(bound, out.above.value_or(bound));
  }
  return out;
}

bool WatchConditions::Meets(const TensorStatistics& s) const {
  if ((nan && s.nan > 0) || (inf && s.inf > 0)) return true;
  if (!above) return false;
  return s.inf > 0 || std::max(std::fabs(s.min), std::fabs(s.max)) > *above;
}

bool WatchConditions::Meets(double v) const {
  if (std::isnan(v)) return nan;
  return (inf && std::isinf(v)) || (above && std::fabs(v) > *above);
}

std::optional<WatchedElement> FirstMeeting(const WatchConditions& conditions, DType dtype,
                                           std::span<const std::byte> bytes) {
  const TensorStatistics s = StatisticsOf(dtype, bytes);
  if (!conditions.Meets(s)) return std::nullopt;
  for (uint64_t i = 0; i < s.elements; ++i) {
    const double v = NumberAt(dtype, bytes, i);
    if (conditions.Meets(v)) return WatchedElement{i, v};
  }
  return std::nullopt;
}

}  // namespace ge::tool
