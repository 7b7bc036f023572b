#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceSumCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, true);
}

bool PlainReduceSum(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out, [](const std::vector<double>& v) { return SumOf(v, [](double e) { return e; }); },
      [](const std::vector<int64_t>& v) { return SumOf(v, [](int64_t e) { return e; }); });
}

}  // namespace

GE_RANDOM_OP(reduce_sum) = {"ReduceSum", ReduceSumCase, 4e-6, Error::kOfSums, PlainReduceSum};

}  // namespace ge::test
