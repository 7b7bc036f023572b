#include "ge/plan/first_fed.h"

#include <algorithm>

namespace ge {

std::vector<uint32_t> FirstFed(std::span<const std::vector<uint32_t>> before,
                               const std::vector<bool>& of_device) {
  const auto n = static_cast<uint32_t>(before.size());
  std::vector<uint32_t> fed(n, n);
  for (uint32_t t = n; t-- > 0;) {
    if (of_device[t]) fed[t] = t;  // all that stands on it comes behind it
    for (const uint32_t b : before[t]) fed[b] = std::min(fed[b], fed[t]);
  }
  return fed;
}

}  // namespace ge
