#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void QLinearMatMulCase(CaseMaker& m) {
  static const std::vector<DType> kByte = {DType::kInt8, DType::kUint8};
  static const std::vector<DType> kSmall = {DType::kFloat8e4m3fn, DType::kFloat8e5m2,
                                            DType::kFloat8e4m3fnuz, DType::kFloat8e5m2fnuz};
  static const std::vector<DType> kScale = {DType::kFloat, DType::kFloat, DType::kFloat16,
                                            DType::kBfloat16};
  const bool usual = m.r.Chance(0.5);  // what exporters write
  const bool small = !usual && m.r.Chance(0.25);
  const DType left = small ? m.r.Pick(kSmall) : m.dtype();
  const DType scale = usual ? DType::kFloat : m.r.Pick(kScale);
  const DType right = m.r.Pick(small ? kSmall : kByte), to = m.r.Pick(small ? kSmall : kByte);
  auto [a, b] = MakeByteProduct(m);
  if (usual && b.size() > 2) b.erase(b.begin(), b.end() - 2);
  const Dims a_lines = usual ? Dims{} : LineShape(m, a, true), b_lines = LineShape(m, b, false);
  const Dims one = m.r.Chance(0.5) ? Dims{} : Dims{1};
  m.Add(Codes(m, left, a));
  m.Add(Scales(m, scale, a_lines));
  m.Add(Codes(m, left, a_lines));
  const auto weight = [&](const std::shared_ptr<HostTensor>& t) {
    usual ? m.AddConstant(t) : m.Add(t);
  };
  weight(Codes(m, right, b));
  m.Add(Scales(m, scale, b_lines));
  weight(Codes(m, right, b_lines));
  m.Add(small ? Scales(m, scale, one) : m.Numbers(scale, one, 50, 5000));
  m.Add(small ? m.Numbers(to, one, 0, 0) : Codes(m, to, one));
  m.c.typed = false;
}

bool PlainQLinearMatMul(const RandomCase& c, HostTensor* out) {
  const auto in = [&](size_t i) { return c.inputs[i].tensor.get(); };
  if (out->dtype != in(7)->dtype) return false;
  ProductPlaces p = PlacesOf(*in(0), *in(3), out->dims);
  if (p.out[p.out.size() - 2] != p.a[p.a.size() - 2] || p.out.back() != p.b.back()) return false;
  Index at(p.out);
  p.at = &at.at;
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const double sum = PlainProductSum(*in(0), *in(3), in(2), in(5), p);
    const double scale = LineValue(in(1), p, true, 1) * LineValue(in(4), p, false, 1);
    SetQuantized(out, i, sum * (scale / ElementAsDouble(*in(6), 0)), ElementAsDouble(*in(7), 0));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(q_linear_mat_mul) = {"QLinearMatMul", QLinearMatMulCase, 0, Error::kOfElement,
                                  PlainQLinearMatMul};

}  // namespace ge::test
