#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void DequantizeLinearMsCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3);
  const auto rank = static_cast<int64_t>(dims.size()), axis = m.r.Int(0, rank - 1);
  const Dims grid = m.r.Chance(0.5) ? Dims{} : Dims{dims[static_cast<size_t>(axis)]};
  m.Add(Codes(m, m.dtype(), dims));
  m.Add(m.Numbers(DType::kFloat, grid, 0.05, 2));
  if (m.r.Chance(0.7)) m.Add(Codes(m, m.dtype(), grid));
  m.Set("axis", m.Axis(axis, rank));
  m.c.typed = false;
}

bool PlainDequantizeLinearMs(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  if (x.dims != out->dims || out->dtype != scale.dtype) return false;
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t k = GridPlace(c, at.at);
    const double moved = ElementAsDouble(x, i) - ElementOr(Maybe(c, 2), k, 0);
    SetElement(out, i, moved * ElementAsDouble(scale, k));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_dequantize_linear) = {"com.microsoft.DequantizeLinear",
                                             DequantizeLinearMsCase, 0, Error::kOfElement,
                                             PlainDequantizeLinearMs};

}  // namespace ge::test
