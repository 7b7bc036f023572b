#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void ConvIntegerCase(CaseMaker& m) {
  const auto [x, w] = MakeByteConv(m);
  const DType weight = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  m.Add(Codes(m, m.dtype(), x));
  m.Add(Codes(m, weight, w));
  const bool w_zero = m.r.Chance(0.4);
  if (m.r.Chance(0.6)) {
    m.Add(Codes(m, m.dtype(), {}));
  } else if (w_zero) {
    m.AddAbsent();
  }
  if (w_zero) m.Add(Codes(m, weight, m.r.Chance(0.5) ? Dims{} : Dims{w[0]}));
  m.c.typed = false;
}

bool PlainConvInteger(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &w = *c.inputs[1].tensor;
  if (out->dtype != DType::kInt32 || out->dims.size() != x.dims.size()) return false;
  if (out->dims[0] != x.dims[0] || out->dims[1] != w.dims[0]) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const double sum = PlainConvSum(c, x, w, Maybe(c, 2), Maybe(c, 3), out->dims, at.at);
    SetIntElement(out, i, static_cast<int64_t>(sum));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(conv_integer) = {"ConvInteger", ConvIntegerCase, 0, Error::kOfElement,
                              PlainConvInteger};

}  // namespace ge::test
