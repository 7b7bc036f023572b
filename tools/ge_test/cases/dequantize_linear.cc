#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void DequantizeLinearCase(CaseMaker& m) {
  static const std::vector<DType> kNarrow = {
      DType::kUint4,        DType::kInt4,       DType::kUint2,          DType::kInt2,
      DType::kFloat8e4m3fn, DType::kFloat8e5m2, DType::kFloat8e4m3fnuz, DType::kFloat8e5m2fnuz,
      DType::kFloat4e2m1,   DType::kFloat6e2m3, DType::kFloat6e3m2};
  static const std::vector<DType> kFloat = {DType::kFloat, DType::kFloat, DType::kFloat16,
                                            DType::kBfloat16};
  const DType from = m.r.Chance(0.5) ? m.dtype() : m.r.Pick(kNarrow);
  const DType scale = m.r.Chance(0.1) ? DType::kFloat8e8m0 : m.r.Pick(kFloat);
  const Dims dims = m.Shape(0, 3);
  const Dims grid = MakeGrid(m, dims);
  m.Add(Codes(m, from, dims));
  m.Add(Scales(m, scale, grid));
  if (m.r.Chance(0.6)) m.Add(Codes(m, from, grid));
  if (scale == DType::kFloat8e8m0 || m.r.Chance(0.2)) {
    m.Set("output_dtype", static_cast<int64_t>(m.r.Pick(kFloat)));
  }
  m.c.typed = false;
}

bool PlainDequantizeLinear(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  const auto stated = static_cast<DType>(IntOr(c, "output_dtype", 0));
  const DType wanted = stated != DType::kUndefined ? stated : scale.dtype;
  if (x.dims != out->dims || out->dtype != wanted) return false;
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t k = GridPlace(c, at.at);
    const double shifted = ElementAsDouble(x, i) - ElementOr(Maybe(c, 2), k, 0);
    SetElement(out, i, shifted * ElementAsDouble(scale, k));
  }
  return true;
}

}  // namespace

// One product, rounded once: no two ways to compute it.
GE_RANDOM_OP(dequantize_linear) = {"DequantizeLinear", DequantizeLinearCase, 0, Error::kOfElement,
                                   PlainDequantizeLinear};

}  // namespace ge::test
