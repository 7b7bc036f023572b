#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void BiasSplitGeluCase(CaseMaker& m) {
  Dims dims = m.Shape(3, 3);
  dims[2] = 2 * m.r.Int(1, 6);
  m.Add(m.Numbers(m.dtype(), dims, -3, 3));
  m.Add(Signal(m, {dims[2]}));
}

bool PlainBiasSplitGelu(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &bias = *c.inputs[1].tensor;
  const int64_t half = x.dims[2] / 2;
  if (out->dims != Dims{x.dims[0], x.dims[1], half}) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t left = i / half * 2 * half + i % half;
    const double a = ElementAsDouble(x, left) + ElementAsDouble(bias, i % half);
    const double b = ElementAsDouble(x, left + half) + ElementAsDouble(bias, i % half + half);
    SetElement(out, i, a * b * NormalShare(b));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_bias_split_gelu) = {"com.microsoft.BiasSplitGelu", BiasSplitGeluCase, 4e-6,
                                           Error::kOfTerms, PlainBiasSplitGelu};

}  // namespace ge::test
