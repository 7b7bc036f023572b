#include "tools/ge_test/plain.h"
#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void GroupNormalizationCase(CaseMaker& m) {
  const int64_t groups = m.r.Int(1, 4), channels = groups * m.r.Int(1, 3);
  m.Add(Signal(m, Cat({m.r.Chance(0.08) ? 0 : m.r.Int(1, 3), channels}, m.Shape(0, 3))));
  m.Add(Signal(m, {channels}));
  m.Add(Signal(m, {channels}));
  m.Set("num_groups", groups);
  m.Set("epsilon", 0.125);  // small variances make the figures large
}

bool PlainGroupNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor,
                   &bias = *c.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  int64_t area = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) area *= x.dims[d];
  const int64_t group = x.dims[1] / IntOr(c, "num_groups", 1) * area;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double sum = 0, squares = 0;
    for (int64_t k = i / group * group; k < (i / group + 1) * group; ++k) {
      sum += ElementAsDouble(x, k);
      squares += ElementAsDouble(x, k) * ElementAsDouble(x, k);
    }
    const double count = static_cast<double>(group), mean = sum / count;
    const double deviation = std::sqrt(squares / count - mean * mean + 0.125);
    const int64_t channel = i / area % x.dims[1];
    SetElement(out, i,
               (ElementAsDouble(x, i) - mean) / deviation * ElementAsDouble(scale, channel) +
                   ElementAsDouble(bias, channel));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(group_normalization) = {"GroupNormalization", GroupNormalizationCase, 8e-6,
                                     Error::kOfTerms, PlainGroupNormalization};

}  // namespace ge::test
