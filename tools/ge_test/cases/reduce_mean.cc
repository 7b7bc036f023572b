#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceMeanCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, IsFloat(m.dtype()));
}

bool PlainReduceMean(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) {
        return SumOf(v, [](double e) { return e; }) / static_cast<double>(v.size());
      },
      [](const std::vector<int64_t>& v) {
        return SumOf(v, [](int64_t e) { return e; }) / static_cast<int64_t>(v.size());
      });
}

}  // namespace

GE_RANDOM_OP(reduce_mean) = {"ReduceMean", ReduceMeanCase, 2e-6, Error::kOfSums, PlainReduceMean};

}  // namespace ge::test
