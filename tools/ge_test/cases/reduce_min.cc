#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceMinCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, IsFloat(m.dtype()));
}

bool PlainReduceMin(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) {
        return v.empty() ? INFINITY : *std::min_element(v.begin(), v.end());
      },
      [](const std::vector<int64_t>& v) { return *std::min_element(v.begin(), v.end()); });
}

}  // namespace

GE_RANDOM_OP(reduce_min) = {"ReduceMin", ReduceMinCase, 0, Error::kOfElement, PlainReduceMin};

}  // namespace ge::test
