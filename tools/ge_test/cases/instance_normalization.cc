#include "tools/ge_test/plain.h"
#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void InstanceNormalizationCase(CaseMaker& m) {
  const int64_t channels = m.r.Int(1, 5);
  m.Add(Signal(m, Cat({m.r.Chance(0.08) ? 0 : m.r.Int(1, 3), channels}, m.Shape(1, 3))));
  m.Add(Signal(m, {channels}));
  m.Add(Signal(m, {channels}));
  m.Set("epsilon", 0.125);  // small variances make the figures large
}

bool PlainInstanceNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor,
                   &bias = *c.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  int64_t area = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) area *= x.dims[d];
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double sum = 0, squares = 0;
    for (int64_t k = i / area * area; k < (i / area + 1) * area; ++k) {
      sum += ElementAsDouble(x, k);
      squares += ElementAsDouble(x, k) * ElementAsDouble(x, k);
    }
    const double count = static_cast<double>(area), mean = sum / count;
    const double deviation = std::sqrt(squares / count - mean * mean + 0.125);
    const int64_t channel = i / area % x.dims[1];
    SetElement(out, i,
               (ElementAsDouble(x, i) - mean) / deviation * ElementAsDouble(scale, channel) +
                   ElementAsDouble(bias, channel));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(instance_normalization) = {"InstanceNormalization", InstanceNormalizationCase, 8e-6,
                                        Error::kOfTerms, PlainInstanceNormalization};

}  // namespace ge::test
