#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void LrnCase(CaseMaker& m) {
  m.Add(Signal(m, Cat({m.r.Int(1, 3), m.r.Int(1, 7)}, m.Shape(0, 3))));
  m.Set("size", m.r.Int(1, 6));
  if (m.r.Chance(0.6)) m.Set("alpha", 0.5);
  if (m.r.Chance(0.6)) m.Set("beta", 0.5);
  if (m.r.Chance(0.6)) m.Set("bias", 2.0);
}

bool PlainLrn(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const int64_t size = IntOr(c, "size", 1), channels = x.dims[1];
  int64_t area = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) area *= x.dims[d];
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t channel = i / area % channels;
    double squares = 0;
    for (int64_t k = 0; k < channels; ++k) {
      if (k < channel - (size - 1) / 2 || k > channel + size / 2) continue;
      const double v = ElementAsDouble(x, i + (k - channel) * area);
      squares += v * v;
    }
    const double alpha = FloatOr(c, "alpha", 1e-4f), beta = FloatOr(c, "beta", 0.75);
    const double base = FloatOr(c, "bias", 1) + alpha / static_cast<double>(size) * squares;
    SetElement(out, i, ElementAsDouble(x, i) / std::pow(base, beta));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(lrn) = {"LRN", LrnCase, 4e-6, Error::kOfTerms, PlainLrn};

}  // namespace ge::test
