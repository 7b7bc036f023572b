#include "tools/ge_test/random/selections.h"

namespace ge::test {
namespace {

void LpNormalizationCase(CaseMaker& m) {
  AlongCase(m);
  if (m.r.Chance(0.6)) m.Set("p", m.r.Int(1, 2));
}

bool PlainLpNormalization(const RandomCase& c, HostTensor* out) {
  const auto p = static_cast<double>(IntOr(c, "p", 2));
  return PlainAlong(c, -1, out, [p](const std::vector<double>& row, size_t k) {
    double sum = 0;
    for (double v : row) sum += std::pow(std::fabs(v), p);
    return sum == 0 ? 0 : row[k] / std::pow(sum, 1 / p);
  });
}

}  // namespace

GE_RANDOM_OP(lp_normalization) = {"LpNormalization", LpNormalizationCase, 4e-6, Error::kOfInputs,
                                  PlainLpNormalization};

}  // namespace ge::test
