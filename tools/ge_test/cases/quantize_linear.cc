#include "tools/ge_test/random/casts.h"
#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void QuantizeLinearCase(CaseMaker& m) {
  static const std::vector<DType> kScale = {DType::kFloat, DType::kFloat,     DType::kFloat,
                                            DType::kFloat, DType::kFloat16,   DType::kBfloat16,
                                            DType::kInt32, DType::kFloat8e8m0};
  static const std::vector<DType> kTo = {
      DType::kUint8,        DType::kInt8,       DType::kUint16,         DType::kInt16,
      DType::kUint4,        DType::kInt4,       DType::kUint2,          DType::kInt2,
      DType::kFloat8e4m3fn, DType::kFloat8e5m2, DType::kFloat8e4m3fnuz, DType::kFloat8e5m2fnuz,
      DType::kFloat4e2m1};
  static const std::vector<DType> kSixBits = {DType::kFloat6e2m3, DType::kFloat6e3m2};
  const Dims dims = m.Shape(0, 3);
  const Dims grid = MakeGrid(m, dims);
  DType to = m.r.Pick(m.r.Chance(0.1) ? kSixBits : kTo);
  m.Add(m.Numbers(m.dtype(), dims, -40, 40));
  m.Add(Scales(m, m.r.Pick(kScale), grid));
  if (m.r.Chance(0.6)) {
    m.Add(IsFloat(to) ? m.Numbers(to, grid, 0, 0) : Codes(m, to, grid));
    if (m.r.Chance(0.3)) m.Set("output_dtype", static_cast<int64_t>(to));
  } else if (m.r.Chance(0.7)) {
    m.Set("output_dtype", static_cast<int64_t>(to));
  }
  if (IsFloat8(to) && m.r.Chance(0.7)) m.Set("saturate", int64_t{0});
  static const std::vector<DType> kPrecision = {DType::kFloat, DType::kFloat16, DType::kBfloat16};
  if (m.r.Chance(0.2)) m.Set("precision", static_cast<int64_t>(m.r.Pick(kPrecision)));
  m.c.typed = false;
}

bool PlainQuantizeLinear(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &scale = *c.inputs[1].tensor;
  const HostTensor* zeros = Maybe(c, 2);
  const auto stated = static_cast<DType>(IntOr(c, "output_dtype", 0));
  const DType wanted = zeros != nullptr              ? zeros->dtype
                       : stated != DType::kUndefined ? stated
                                                     : DType::kUint8;
  if (x.dims != out->dims || out->dtype != wanted) return false;
  auto precision = static_cast<DType>(IntOr(c, "precision", 0));
  if (precision == DType::kUndefined) {
    precision = scale.dtype == DType::kFloat8e8m0 ? DType::kFloat
                : IsFloat(scale.dtype)            ? scale.dtype
                                                  : DType::kDouble;
  }
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t k = GridPlace(c, at.at);
    const double v = RoundedTo(precision, ElementAsDouble(x, i));
    const double s = RoundedTo(precision, ElementAsDouble(scale, k));
    const double q = RoundedTo(precision, v / s);
    if (IsFloat8(wanted) && IntOr(c, "saturate", 1) == 0) {
      SetUnsaturated(out, i, q);
    } else {
      SetQuantized(out, i, q, ElementOr(zeros, k, 0));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(quantize_linear) = {"QuantizeLinear", QuantizeLinearCase, 0, Error::kOfElement,
                                 PlainQuantizeLinear};

}  // namespace ge::test
