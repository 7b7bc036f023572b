#include "tools/ge_test/plain.h"
#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void BatchNormalizationCase(CaseMaker& m) {
  const int64_t channels = m.Size(5, 12);
  const Dims size = m.Shape(0, 3);
  m.Add(Signal(m, Cat({m.r.Int(1, 3), channels}, size)));
  const bool constant = m.r.Chance(0.6);  // as in a trained model
  for (int i = 0; i < 4; ++i) {
    m.Add(i == 3 ? m.Numbers(m.dtype(), {channels}, 0.3, 2) : Signal(m, {channels}));
    if (constant) m.c.inputs.back().constant = true;
  }
  if (m.r.Chance(0.5)) m.Set("epsilon", 0.125);
}

bool PlainBatchNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  int64_t area = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) area *= x.dims[d];
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const int64_t k = i / area % x.dims[1];
    const auto of = [&](size_t input) { return ElementAsDouble(*c.inputs[input].tensor, k); };
    const double deviation = std::sqrt(of(4) + FloatOr(c, "epsilon", 1e-5f));
    SetElement(out, i, (ElementAsDouble(x, i) - of(3)) / deviation * of(1) + of(2));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(batch_normalization) = {"BatchNormalization", BatchNormalizationCase, 8e-6,
                                     Error::kOfInputs, PlainBatchNormalization};

}  // namespace ge::test
