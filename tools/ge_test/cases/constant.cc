#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void ConstantCase(CaseMaker& m) {
  if (m.r.Chance(0.6)) {
    m.c.value = Anything(m, m.Shape(0, 4));
    return;
  }
  m.c.typed = false;
  std::vector<double> reals;
  Dims whole;
  for (int64_t n = m.r.Int(1, 5); n > 0; --n) {
    whole.push_back(m.r.Int(-99, 99));
    reals.push_back(static_cast<double>(whole.back()) / 4);
  }
  const int64_t kind = m.r.Int(0, 3);
  if (kind == 0) m.Set("value_float", reals[0]);
  if (kind == 1) m.Set("value_floats", reals);
  if (kind == 2) m.Set("value_int", whole[0]);
  if (kind == 3) m.Set("value_ints", whole);
}

bool PlainConstant(const RandomCase& c, HostTensor* out) {
  if (c.value == nullptr) {
    const Attr& a = c.attrs[0];
    const bool list = a.name.ends_with("s"), real = a.name.starts_with("value_float");
    std::vector<double> v;
    for (const int64_t k : IntsOr(c, "value_ints", {IntOr(c, "value_int", 0)})) {
      v.push_back(static_cast<double>(k));
    }
    if (real)
      v = list ? std::get<std::vector<double>>(a.value)
               : std::vector<double>{FloatOr(c, "value_float", 0)};
    const Dims wanted = list ? Dims{static_cast<int64_t>(v.size())} : Dims{};
    if (out->dims != wanted || out->dtype != (real ? DType::kFloat : DType::kInt64)) return false;
    for (size_t i = 0; i < v.size(); ++i) SetElement(out, static_cast<int64_t>(i), v[i]);
    return true;
  }
  if (c.value->dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) Copy(*c.value, i, out, i);
  return true;
}

}  // namespace

GE_RANDOM_OP(constant) = {"Constant", ConstantCase, 0, Error::kOfElement, PlainConstant};

}  // namespace ge::test
