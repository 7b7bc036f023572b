#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceSumSquareCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? -3 : -20, real ? 3 : 20, true);
}

bool PlainReduceSumSquare(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out, [](const std::vector<double>& v) { return SumOf(v, [](double e) { return e * e; }); },
      [](const std::vector<int64_t>& v) { return SumOf(v, [](int64_t e) { return e * e; }); });
}

}  // namespace

GE_RANDOM_OP(reduce_sum_square) = {"ReduceSumSquare", ReduceSumSquareCase, 4e-6, Error::kOfSums,
                                   PlainReduceSumSquare};

}  // namespace ge::test
