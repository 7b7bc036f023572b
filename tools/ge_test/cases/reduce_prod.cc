#include "tools/ge_test/random/reductions.h"

namespace ge::test {
namespace {

void ReduceProdCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  ReductionCase(m, real ? 0.25 : -5, real ? 2 : 5, true);
}

bool PlainReduceProd(const RandomCase& c, HostTensor* out) {
  return PlainReduction(
      c, out,
      [](const std::vector<double>& v) {
        double p = 1;
        for (double e : v) p *= e;
        return p;
      },
      [](const std::vector<int64_t>& v) {
        uint64_t p = 1;
        for (int64_t e : v) p *= static_cast<uint64_t>(e);
        return static_cast<int64_t>(p);
      });
}

}  // namespace

GE_RANDOM_OP(reduce_prod) = {"ReduceProd", ReduceProdCase, 4e-6, Error::kOfTerms, PlainReduceProd};

}  // namespace ge::test
