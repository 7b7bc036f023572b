#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceLogSumCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  // An integer that stands for -infinity differs between widths.
  ReductionCase(m, real ? 0.25 : 1, real ? 3 : 20, real);
}

bool PlainReduceLogSum(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) { return std::log(SumOf(v, [](double e) { return e; })); },
      [](const std::vector<int64_t>& v) {
        const int64_t sum = SumOf(v, [](int64_t e) { return e; });
        return CutToInt(std::log(static_cast<double>(sum)));
      });
}

}  // namespace

GE_RANDOM_OP(reduce_log_sum) = {"ReduceLogSum", ReduceLogSumCase, 4e-6, Error::kOfTerms,
                                PlainReduceLogSum};

}  // namespace ge::test
