#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

bool EncoderHasList(DType t) { return t == DType::kInt64 || t == DType::kFloat; }

// keys_* or values_*: a list where there is one for the type, or a tensor.
void SetEncoderList(CaseMaker& m, const std::string& kind, DType dtype,
                    const std::vector<double>& v) {
  if (!EncoderHasList(dtype) || m.r.Chance(0.3)) {
    m.SetTensor((kind + "_tensor").c_str(), m.Floats(dtype, {static_cast<int64_t>(v.size())}, v));
  } else if (dtype == DType::kFloat) {
    m.Set((kind + "_floats").c_str(), v);
  } else {
    m.Set((kind + "_int64s").c_str(), Dims(v.begin(), v.end()));
  }
}

void LabelEncoderCase(CaseMaker& m) {
  m.c.typed = false;  // the keys are of the input's type
  const Dims dims = m.Shape(0, 3);
  const int64_t n = m.r.Int(1, 9);
  std::vector<double> keys, values, x;
  for (int64_t i = 0; i < n; ++i) {
    keys.push_back(static_cast<double>(m.r.Int(-6, 6)));  // some twice
    values.push_back(static_cast<double>(m.r.Int(-99, 99)));
  }
  if (IsFloat(m.dtype()) && m.r.Chance(0.4)) keys[0] = std::numeric_limits<double>::quiet_NaN();
  for (int64_t i = 0, count = m.Numbers(m.dtype(), dims, 0, 1)->count(); i < count; ++i) {
    const bool none = IsFloat(m.dtype()) && m.r.Chance(0.1);
    x.push_back(none               ? std::numeric_limits<double>::quiet_NaN()
                : m.r.Chance(0.05) ? -0.0
                                   : static_cast<double>(m.r.Int(-6, 6)));
  }
  m.Add(m.Floats(m.dtype(), dims, x));
  const DType to = m.r.Pick(std::vector<DType>{DType::kInt64, DType::kFloat, DType::kInt32,
                                               DType::kInt16, DType::kDouble});
  SetEncoderList(m, "keys", m.dtype(), keys);
  SetEncoderList(m, "values", to, values);
  const auto absent = static_cast<double>(m.r.Int(-5, 5));
  if (m.r.Chance(0.3)) {
    m.SetTensor("default_tensor", m.Floats(to, {1}, {absent}));
  } else if (m.r.Chance(0.5) && EncoderHasList(to)) {
    if (to == DType::kFloat) {
      m.Set("default_float", absent);
    } else {
      m.Set("default_int64", static_cast<int64_t>(absent));
    }
  }
}

std::vector<double> EncoderNumbers(const RandomCase& c, const std::string& kind) {
  if (const HostTensor* t = TensorAttrOf(c, kind + "_tensor")) {
    std::vector<double> v;
    for (int64_t i = 0; i < t->count(); ++i) v.push_back(ElementAsDouble(*t, i));
    return v;
  }
  std::vector<double> v = FloatsOr(c, kind + "_floats");
  for (const int64_t k : IntsOr(c, kind + "_int64s", {})) v.push_back(static_cast<double>(k));
  return v;
}

bool PlainLabelEncoder(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const auto keys = EncoderNumbers(c, "keys"), values = EncoderNumbers(c, "values");
  double absent = IsFloat(out->dtype) ? FloatOr(c, "default_float", -0.0)
                                      : static_cast<double>(IntOr(c, "default_int64", -1));
  if (const HostTensor* t = TensorAttrOf(c, "default_tensor")) absent = ElementAsDouble(*t, 0);
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    double found = absent;
    for (size_t k = 0; k < keys.size(); ++k) {
      if (keys[k] == v || (std::isnan(v) && std::isnan(keys[k]))) found = values[k];
    }
    SetElement(out, i, found);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_label_encoder) = {"ai.onnx.ml.LabelEncoder", LabelEncoderCase, 0,
                                       Error::kOfElement, PlainLabelEncoder};

}  // namespace ge::test
