#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void DynamicQuantizeMatMulCase(CaseMaker& m) {
  const ProductSize large = m.large ? LargeProduct(m) : ProductSize{};
  const int64_t inner = m.large ? large.depth : m.r.Int(1, 9),
                columns = m.large ? large.columns : m.r.Int(1, 6);
  const DType t = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  const Dims lines = m.r.Chance(0.4) ? Dims{columns} : Dims{};
  m.Add(m.Numbers(
      DType::kFloat,
      Cat(m.large ? Dims() : m.Shape(0, 1, false), {m.large ? large.rows : m.r.Int(1, 5), inner}),
      -2, 3));
  m.Add(Codes(m, t, {inner, columns}));
  m.Add(m.Numbers(DType::kFloat, lines, 0.01, 0.1));
  AddMaybe(m, m.r.Chance(0.6) ? Codes(m, t, lines) : nullptr);
  if (m.r.Chance(0.5)) m.Add(m.Numbers(DType::kFloat, {columns}, -1, 1));
  m.c.typed = false;
}

bool PlainDynamicQuantizeMatMul(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *Maybe(c, 0), &b = *Maybe(c, 1);
  const int64_t inner = b.dims[0], columns = b.dims[1];
  Dims wanted = a.dims;
  wanted.back() = columns;
  if (out->dims != wanted) return false;
  double least = 0, most = 0;
  for (int64_t i = 0; i < a.count(); ++i) {
    least = std::min(least, ElementAsDouble(a, i));
    most = std::max(most, ElementAsDouble(a, i));
  }
  const double scale = InF32(InF32(most - least) / 255);
  const double zero = scale == 0 ? 0 : std::clamp(std::nearbyint(InF32(-least / scale)), 0., 255.);
  const auto code = [&](int64_t i) {
    if (scale == 0) return 0.;
    return std::clamp(std::nearbyint(InF32(ElementAsDouble(a, i) / scale)) + zero, 0., 255.);
  };
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t row = i / columns, col = i % columns;
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      sum += (code(row * inner + k) - zero) *
             (ElementAsDouble(b, k * columns + col) - ElementOr(Maybe(c, 3), col, 0));
    }
    SetElement(out, i,
               sum * scale * ElementOr(Maybe(c, 2), col, 1) + ElementOr(Maybe(c, 4), col, 0));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_dynamic_quantize_mat_mul) = {"com.microsoft.DynamicQuantizeMatMul",
                                                    DynamicQuantizeMatMulCase, 4e-6,
                                                    Error::kOfElement, PlainDynamicQuantizeMatMul};

}  // namespace ge::test
