#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceLogSumExpCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  // An integer that stands for -infinity differs between widths.
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, real);
}

bool PlainReduceLogSumExp(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) {
        return std::log(SumOf(v, [](double e) { return std::exp(e); }));
      },
      // The greatest is taken off, so that one element alone gives itself to the bit.
      [](const std::vector<int64_t>& v) {
        const int64_t most = v.empty() ? 0 : *std::max_element(v.begin(), v.end());
        double sum = 0;
        for (int64_t e : v) sum += std::exp(static_cast<double>(e - most));
        return CutToInt(static_cast<double>(most) + std::log(sum));
      });
}

}  // namespace

GE_RANDOM_OP(reduce_log_sum_exp) = {"ReduceLogSumExp", ReduceLogSumExpCase, 4e-6, Error::kOfInputs,
                                    PlainReduceLogSumExp};

}  // namespace ge::test
