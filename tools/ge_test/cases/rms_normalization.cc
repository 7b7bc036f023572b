#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void RmsNormalizationCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = m.r.Chance(0.6) ? rank - 1 : m.r.Int(0, rank - 1);
  m.Add(Signal(m, dims));
  m.Add(Signal(m, m.r.Chance(0.7) ? Dims(dims.begin() + axis, dims.end()) : m.Narrowed(dims)));
  if (axis != rank - 1 || m.r.Chance(0.5)) m.Set("axis", m.Axis(axis, rank));
  m.Set("epsilon", 0.125);
}

bool PlainRmsNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  if (x.dims != out->dims) return false;
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = IntOr(c, "axis", -1), row = 1;
  if (axis < 0) axis += rank;
  for (int64_t d = axis; d < rank; ++d) row *= x.dims[static_cast<size_t>(d)];
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double squares = 0;
    for (int64_t k = i / row * row; k < (i / row + 1) * row; ++k) {
      squares += ElementAsDouble(x, k) * ElementAsDouble(x, k);
    }
    const double root = std::sqrt(squares / static_cast<double>(row) + 0.125);
    SetElement(out, i,
               ElementAsDouble(x, i) / root * ElementAsDouble(scale, Broadcast(scale, at.at)));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(rms_normalization) = {"RMSNormalization", RmsNormalizationCase, 4e-6, Error::kOfInputs,
                                   PlainRmsNormalization};

}  // namespace ge::test
