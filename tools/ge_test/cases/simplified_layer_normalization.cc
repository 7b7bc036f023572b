#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void SimplifiedLayerNormalizationCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4, false);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = m.r.Chance(0.6) ? rank - 1 : m.r.Int(0, rank - 1);
  m.Add(Signal(m, dims));
  const Dims last(dims.begin() + axis, dims.end());
  m.Add(Signal(m, m.r.Chance(0.8) ? last : Dims{dims.back()}));
  if (axis != rank - 1 || m.r.Chance(0.5)) m.Set("axis", m.Axis(axis, rank));
  m.Set("epsilon", 0.125);
  m.c.outputs = m.r.Chance(0.3) ? 2 : 1;
}

// Output 0 alone.
bool PlainSimplifiedLayerNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  if (x.dims != out->dims) return false;
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t row = 1;
  for (int64_t d = (IntOr(c, "axis", -1) + rank) % rank; d < rank; ++d) {
    row *= x.dims[static_cast<size_t>(d)];
  }
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double squares = 0;
    for (int64_t k = i / row * row; k < (i / row + 1) * row; ++k) {
      squares += ElementAsDouble(x, k) * ElementAsDouble(x, k);
    }
    const double root = std::sqrt(squares / static_cast<double>(row) + 0.125);
    SetElement(out, i, ElementAsDouble(x, i) / root * ElementAsDouble(scale, i % scale.count()));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(simplified_layer_normalization) = {
    "SimplifiedLayerNormalization", SimplifiedLayerNormalizationCase, 8e-6, Error::kOfInputs,
    PlainSimplifiedLayerNormalization};

}  // namespace ge::test
