#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void QLinearConvCase(CaseMaker& m) {
  static const std::vector<DType> kByte = {DType::kInt8, DType::kUint8};
  const auto [x, w] = MakeByteConv(m);
  const DType weight = m.r.Pick(kByte), to = m.r.Pick(kByte);
  const Dims one = m.r.Chance(0.5) ? Dims{} : Dims{1};
  const Dims filters = m.r.Chance(0.5) ? one : Dims{w[0]};
  m.Add(Codes(m, m.dtype(), x));
  m.Add(Scales(m, DType::kFloat, one));
  m.Add(Codes(m, m.dtype(), one));
  m.Add(Codes(m, weight, w));
  m.Add(Scales(m, DType::kFloat, filters));
  m.Add(Codes(m, weight, filters));
  m.Add(m.Numbers(DType::kFloat, one, 50, 5000));  // sums are of some ten thousands
  m.Add(Codes(m, to, one));
  if (m.r.Chance(0.5)) m.Add(m.Numbers(DType::kInt32, {w[0]}, -20000, 20000));
  m.c.typed = false;
}

bool PlainQLinearConv(const RandomCase& c, HostTensor* out) {
  const auto in = [&](size_t i) -> const HostTensor& { return *c.inputs[i].tensor; };
  if (out->dtype != in(7).dtype || out->dims.size() != in(0).dims.size()) return false;
  if (out->dims[0] != in(0).dims[0] || out->dims[1] != in(3).dims[0]) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double sum = PlainConvSum(c, in(0), in(3), &in(2), &in(5), out->dims, at.at);
    if (Maybe(c, 8) != nullptr) sum += ElementAsDouble(in(8), at.at[1]);
    const double scale = ElementAsDouble(in(1), 0) * ElementOr(&in(4), at.at[1], 1);
    SetQuantized(out, i, sum * (scale / ElementAsDouble(in(6), 0)), ElementAsDouble(in(7), 0));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(q_linear_conv) = {"QLinearConv", QLinearConvCase, 0, Error::kOfElement,
                               PlainQLinearConv};

}  // namespace ge::test
