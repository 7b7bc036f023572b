#include "tools/ge_test/random/selections.h"

namespace ge::test {
namespace {

bool PlainHardmax(const RandomCase& c, HostTensor* out) {
  return PlainAlong(c, -1, out, [](const std::vector<double>& row, size_t k) {
    const auto first = std::max_element(row.begin(), row.end()) - row.begin();
    return first == static_cast<ptrdiff_t>(k) ? 1.0 : 0.0;
  });
}

}  // namespace

GE_RANDOM_OP(hardmax) = {"Hardmax", AlongCase, 0, Error::kOfElement, PlainHardmax};

}  // namespace ge::test
