#include <algorithm>

#include "tools/ge_test/text/case.h"

namespace ge::test {
namespace {

constexpr size_t kMostLines = 3000;  // of one side; the table has their product in cells
constexpr size_t kContext = 2;       // equal lines shown around a difference

struct Edit {
  char sign;  // ' ', '-', '+'
  const std::string* line;
};

std::vector<Edit> Compare(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<Edit> edits;
  if (a.size() > kMostLines || b.size() > kMostLines) {
    for (const std::string& line : a) edits.push_back({'-', &line});
    for (const std::string& line : b) edits.push_back({'+', &line});
    return edits;
  }
  const size_t width = b.size() + 1;
  std::vector<uint16_t> longest((a.size() + 1) * width, 0);  // common lines from (i, j) on
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      longest[i * width + j] =
          a[i] == b[j] ? longest[(i + 1) * width + j + 1] + 1
                       : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      edits.push_back({' ', &a[i]});
      ++i;
      ++j;
    } else if (j == b.size() ||
               (i < a.size() && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
      edits.push_back({'-', &a[i++]});
    } else {
      edits.push_back({'+', &b[j++]});
    }
  }
  return edits;
}

}  // namespace

std::string LineDiff(std::string_view wanted, std::string_view found) {
  const std::vector<std::string> a = SplitLines(wanted), b = SplitLines(found);
  const std::vector<Edit> edits = Compare(a, b);
  std::vector<char> shown(edits.size(), 0);
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign == ' ') continue;
    const size_t last = std::min(edits.size(), i + kContext + 1);
    for (size_t k = i < kContext ? 0 : i - kContext; k < last; ++k) shown[k] = 1;
  }
  std::string out;
  bool gap = false;
  for (size_t i = 0; i < edits.size(); ++i) {
    if (!shown[i]) {
      if (!gap) out += "      ...\n";
      gap = true;
      continue;
    }
    gap = false;
    out += std::string("    ") + edits[i].sign + " " + *edits[i].line + "\n";
  }
  return out;
}

}  // namespace ge::test
