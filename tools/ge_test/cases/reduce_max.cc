#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceMaxCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, IsFloat(m.dtype()));
}

bool PlainReduceMax(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) {
        return v.empty() ? -INFINITY : *std::max_element(v.begin(), v.end());
      },
      [](const std::vector<int64_t>& v) { return *std::max_element(v.begin(), v.end()); });
}

}  // namespace

GE_RANDOM_OP(reduce_max) = {"ReduceMax", ReduceMaxCase, 0, Error::kOfElement, PlainReduceMax};

}  // namespace ge::test
