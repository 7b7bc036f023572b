#include "passes/data/pipe/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "passes/data/sources/file.h"

namespace ge::data {
namespace {

constexpr size_t kLongest = 64;  // letters that count

std::string Small(std::string_view text) {
  std::string out(text.substr(0, kLongest));
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Levenshtein, "Binary codes capable of correcting deletions, insertions and reversals", 1966.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t changed = corner + (a[i - 1] == b[k - 1] ? 0 : 1);
      corner = row[k];
      row[k] = std::min({changed, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& names) {
  const std::string small = Small(word);
  const size_t most = std::max<size_t>(1, small.size() / 3);
  const std::string* best = nullptr;
  size_t least = most + 1;
  for (const std::string& name : names) {
    const std::string other = Small(name);
    const size_t shorter = std::min(small.size(), other.size());
    const bool begins = shorter >= 3 && small.substr(0, shorter) == other.substr(0, shorter);
    const size_t away = begins ? std::min(most, Distance(small, other)) : Distance(small, other);
    if (away >= least) continue;
    least = away;
    best = &name;
  }
  return best == nullptr ? "" : fmt::format("; did you mean '{}'?", Shown(*best));
}

}  // namespace ge::data
