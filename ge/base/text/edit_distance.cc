#include "ge/base/text/edit_distance.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace ge {

size_t EditDistance(std::string_view left, std::string_view right) {
  left = left.substr(0, 64);
  right = right.substr(0, 64);
  std::vector<size_t> row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(left[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(right[j - 1]));
      const size_t best = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (same ? 0 : 1)});
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[right.size()];
}

}  // namespace ge
