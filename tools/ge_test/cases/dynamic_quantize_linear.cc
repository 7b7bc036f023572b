#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void DynamicQuantizeLinearCase(CaseMaker& m) {
  const double least = m.r.Chance(0.3) ? 0.5 : -m.r.Between(0, 3);
  const double most = m.r.Chance(0.2) ? least : least + m.r.Between(0, 6);
  m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), least, most));
  m.c.outputs = 3;
  m.c.typed = false;
}

// In f32 throughout, as ONNX defines it; only the codes are checked, which hold scale and zero
// point both.
bool PlainDynamicQuantizeLinear(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims || out->dtype != DType::kUint8) return false;
  float least = 0, most = 0;
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    least = std::min(least, static_cast<float>(ElementAsDouble(x, i)));
    most = std::max(most, static_cast<float>(ElementAsDouble(x, i)));
  }
  const float scale = (most == least ? 1.0f : most - least) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-least / scale, 0.0f, 255.0f));
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    SetQuantized(out, i, static_cast<float>(ElementAsDouble(x, i)) / scale, zero);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(dynamic_quantize_linear) = {"DynamicQuantizeLinear", DynamicQuantizeLinearCase, 0,
                                         Error::kOfElement, PlainDynamicQuantizeLinear};

}  // namespace ge::test
