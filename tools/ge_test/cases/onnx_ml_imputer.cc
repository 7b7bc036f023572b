#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void ImputerCase(CaseMaker& m) {
  const int64_t features = m.r.Int(1, 5);
  AddFeatureRows(m, features, true);
  const int64_t values = m.r.Chance(0.5) ? 1 : features;
  if (IsFloat(m.dtype())) {
    m.Set("imputed_value_floats", FloatList(m, values, -9, 9));
    const bool missing = m.r.Chance(0.5);
    if (missing || m.r.Chance(0.6)) {
      m.Set("replaced_value_float",
            missing ? std::numeric_limits<double>::quiet_NaN() : Quarter(m));
    }
    return;
  }
  Dims list;
  for (int64_t i = 0; i < values; ++i) list.push_back(m.r.Int(-99, 99));
  m.Set("imputed_value_int64s", list);
  if (m.r.Chance(0.8)) m.Set("replaced_value_int64", m.r.Int(-8, 8));
}

bool PlainImputer(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims || x.dtype != out->dtype) return false;
  const auto reals = FloatsOr(c, "imputed_value_floats");
  const Dims wholes = IntsOr(c, "imputed_value_int64s", {});
  const double real = FloatOr(c, "replaced_value_float", 0);
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t f = i % x.dims.back();
    if (IsFloat(x.dtype)) {
      const double v = ElementAsDouble(x, i);
      const bool hit = std::isnan(real) ? std::isnan(v) : v == real;
      SetElement(out, i, hit ? reals[reals.size() == 1 ? 0 : static_cast<size_t>(f)] : v);
    } else {
      const int64_t v = ElementAsInt(x, i);
      const bool hit = v == IntOr(c, "replaced_value_int64", 0);
      SetIntElement(out, i, hit ? wholes[wholes.size() == 1 ? 0 : static_cast<size_t>(f)] : v);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_imputer) = {"ai.onnx.ml.Imputer", ImputerCase, 0, Error::kOfElement,
                                 PlainImputer};

}  // namespace ge::test
