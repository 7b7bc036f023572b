#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QuantizeLinearMsCase(CaseMaker& m) {
  static const std::vector<DType> kTo = {DType::kUint8, DType::kInt8,  DType::kUint16,
                                         DType::kInt16, DType::kUint4, DType::kInt4};
  const Dims dims = m.Shape(1, 3);
  const auto rank = static_cast<int64_t>(dims.size()), axis = m.r.Int(0, rank - 1);
  const Dims grid = m.r.Chance(0.5) ? Dims{} : Dims{dims[static_cast<size_t>(axis)]};
  m.Add(m.Numbers(m.dtype(), dims, -40, 40));
  m.Add(m.Numbers(m.dtype(), grid, 0.05, 2));
  if (m.r.Chance(0.8)) m.Add(Codes(m, m.r.Pick(kTo), grid));
  m.Set("axis", m.Axis(axis, rank));
  m.c.typed = false;
}

bool PlainQuantizeLinearMs(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  const HostTensor* zeros = Maybe(c, 2);
  if (x.dims != out->dims || (zeros == nullptr && out->dtype != DType::kUint8)) return false;
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t k = GridPlace(c, at.at);
    const double q = ElementAsDouble(x, i) / ElementAsDouble(scale, k);
    SetQuantized(out, i, RoundedTo(scale.dtype, q), ElementOr(zeros, k, 0));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_quantize_linear) = {"com.microsoft.QuantizeLinear", QuantizeLinearMsCase, 0,
                                           Error::kOfElement, PlainQuantizeLinearMs};

}  // namespace ge::test
