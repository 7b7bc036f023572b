#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void LayerNormalizationCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4, false);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = m.r.Chance(0.6) ? rank - 1 : m.r.Int(0, rank - 1);
  const Dims last(dims.begin() + axis, dims.end());
  m.Add(Signal(m, dims));
  m.Add(Signal(m, m.r.Chance(0.8) ? last : m.Narrowed(dims)));
  if (m.r.Chance(0.7)) m.Add(Signal(m, m.r.Chance(0.8) ? last : m.Narrowed(dims)));
  if (axis != rank - 1 || m.r.Chance(0.5)) m.Set("axis", m.Axis(axis, rank));
  // Small variances make the figures large, and their differences with them.
  m.Set("epsilon", 0.125);
  m.c.outputs = m.r.Chance(0.2) ? 3 : 1;
}

// Output 0 alone.
bool PlainLayerNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  if (x.dims != out->dims) return false;
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = IntOr(c, "axis", -1), row = 1;
  if (axis < 0) axis += rank;
  for (int64_t d = axis; d < rank; ++d) row *= x.dims[static_cast<size_t>(d)];
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double sum = 0, squares = 0;
    for (int64_t k = i / row * row; k < (i / row + 1) * row; ++k) {
      sum += ElementAsDouble(x, k);
      squares += ElementAsDouble(x, k) * ElementAsDouble(x, k);
    }
    const double r = static_cast<double>(row), mean = sum / r;
    const double deviation = std::sqrt(squares / r - mean * mean + FloatOr(c, "epsilon", 1e-5));
    double v = (ElementAsDouble(x, i) - mean) / deviation;
    v *= ElementAsDouble(scale, Broadcast(scale, at.at));
    const HostTensor* bias = Maybe(c, 2);
    if (bias != nullptr) v += ElementAsDouble(*bias, Broadcast(*bias, at.at));
    SetElement(out, i, v);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(layer_normalization) = {"LayerNormalization", LayerNormalizationCase, 8e-6,
                                     Error::kOfInputs, PlainLayerNormalization};

}  // namespace ge::test
