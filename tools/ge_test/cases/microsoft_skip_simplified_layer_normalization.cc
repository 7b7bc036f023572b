#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void SkipSimplifiedCase(CaseMaker& m) {
  const Dims dims = m.Shape(2, 3, false);
  const Dims last = {dims.back()};
  m.Add(Signal(m, dims));
  m.Add(Signal(m, dims));
  m.Add(Signal(m, last));
  if (m.r.Chance(0.5)) m.Add(Signal(m, last));
  m.Set("epsilon", 0.125);
}

bool PlainSkipSimplified(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &skip = *c.inputs[1].tensor,
                   &gamma = *c.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  const int64_t n = x.dims.back();
  const auto sum = [&](int64_t i) {
    return ElementAsDouble(x, i) + ElementAsDouble(skip, i) + ElementOr(Maybe(c, 3), i % n, 0);
  };
  for (int64_t i = 0, all = out->count(); i < all; ++i) {
    double squares = 0;
    for (int64_t k = i / n * n; k < (i / n + 1) * n; ++k) squares += sum(k) * sum(k);
    const double root = std::sqrt(squares / static_cast<double>(n) + 0.125);
    SetElement(out, i, sum(i) / root * ElementAsDouble(gamma, i % n));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_skip_simplified_layer_normalization) = {
    "com.microsoft.SkipSimplifiedLayerNormalization", SkipSimplifiedCase, 8e-6, Error::kOfInputs,
    PlainSkipSimplified};

}  // namespace ge::test
