#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void GlobalLpPoolCase(CaseMaker& m) {
  GlobalPoolCase(m);
  if (m.r.Chance(0.6)) m.Set("p", m.r.Int(1, 4));
}

bool PlainGlobalLpPool(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  Dims wanted(x.dims.size(), 1);
  wanted[0] = x.dims[0];
  wanted[1] = x.dims[1];
  if (out->dims != wanted) return false;
  const double p = static_cast<double>(IntOr(c, "p", 2));
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double sum = 0;
    const int64_t area = x.count() / n;
    for (int64_t k = 0; k < area; ++k) {
      sum += std::pow(std::fabs(ElementAsDouble(x, i * area + k)), p);
    }
    SetElement(out, i, std::pow(sum, 1 / p));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(global_lp_pool) = {"GlobalLpPool", GlobalLpPoolCase, 4e-6, Error::kOfTerms,
                                PlainGlobalLpPool};

}  // namespace ge::test
