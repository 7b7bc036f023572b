#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void OneHotEncoderCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 2);
  m.Add(m.Numbers(m.dtype(), dims, -4, 4));
  Dims all = {-4, -3, -2, -1, 0, 1, 2, 3, 4}, some;
  for (const int64_t v : all) {
    if (m.r.Chance(0.6))
      some.insert(some.begin() + m.r.Int(0, static_cast<int64_t>(some.size())), v);
  }
  // With every category there, none may be missing.
  const bool whole = m.r.Chance(0.3) || some.empty();
  m.Set("cats_int64s", whole ? all : some);
  if (whole && m.r.Chance(0.6)) m.Set("zeros", int64_t{0});
}

bool PlainOneHotEncoder(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims categories = IntsOr(c, "cats_int64s", {});
  Dims wanted = x.dims;
  wanted.push_back(static_cast<int64_t>(categories.size()));
  if (wanted != out->dims || out->dtype != DType::kFloat) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const auto k = static_cast<size_t>(i % wanted.back());
    const double v = std::trunc(ElementAsDouble(x, i / wanted.back()));
    SetElement(out, i, v == static_cast<double>(categories[k]) ? 1 : 0);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_one_hot_encoder) = {"ai.onnx.ml.OneHotEncoder", OneHotEncoderCase, 0,
                                         Error::kOfElement, PlainOneHotEncoder};

}  // namespace ge::test
