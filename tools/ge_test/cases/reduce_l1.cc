#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceL1Case(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, true);
}

bool PlainReduceL1(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) { return SumOf(v, [](double e) { return std::fabs(e); }); },
      [](const std::vector<int64_t>& v) {
        return SumOf(v, [](int64_t e) { return std::abs(e); });
      });
}

}  // namespace

GE_RANDOM_OP(reduce_l1) = {"ReduceL1", ReduceL1Case, 4e-6, Error::kOfSums, PlainReduceL1};

}  // namespace ge::test
