#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceL2Case(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, true);
}

bool PlainReduceL2(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) {
        return std::sqrt(SumOf(v, [](double e) { return e * e; }));
      },
      [](const std::vector<int64_t>& v) {
        const int64_t sum = SumOf(v, [](int64_t e) { return e * e; });
        return CutToInt(std::sqrt(static_cast<double>(sum)));
      });
}

}  // namespace

GE_RANDOM_OP(reduce_l2) = {"ReduceL2", ReduceL2Case, 4e-6, Error::kOfTerms, PlainReduceL2};

}  // namespace ge::test
