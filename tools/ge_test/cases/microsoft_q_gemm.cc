#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QGemmCase(CaseMaker& m) {
  const ProductSize large = m.large ? LargeProduct(m) : ProductSize{};
  const int64_t rows = m.large ? large.rows : m.r.Int(1, 5),
                inner = m.large ? large.depth : m.r.Int(1, 9),
                columns = m.large ? large.columns : m.r.Int(1, 6);
  const DType t = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  const bool left = m.r.Chance(0.4), right = m.r.Chance(0.4);
  const Dims lines = m.r.Chance(0.4) ? Dims{columns} : Dims{};
  m.Add(Codes(m, m.dtype(), left ? Dims{inner, rows} : Dims{rows, inner}));
  m.Add(m.Numbers(DType::kFloat, {}, 0.01, 0.1));
  m.Add(Codes(m, m.dtype(), {}));
  const bool constant = m.r.Chance(0.5);  // as exporters write weights
  const auto weight = [&](const std::shared_ptr<HostTensor>& x) {
    constant ? m.AddConstant(x) : m.Add(x);
  };
  weight(Codes(m, t, right ? Dims{columns, inner} : Dims{inner, columns}));
  m.Add(m.Numbers(DType::kFloat, lines, 0.01, 0.1));
  weight(Codes(m, t, lines));
  AddMaybe(m, m.r.Chance(0.6) ? m.Numbers(DType::kInt32, {columns}, -500, 500) : nullptr);
  if (m.r.Chance(0.6)) {
    m.Add(m.Numbers(DType::kFloat, {}, 0.5, 3));
    m.Add(Codes(m, m.dtype(), {}));
  }
  if (left) m.Set("transA", int64_t{1});
  if (right) m.Set("transB", int64_t{1});
  if (m.r.Chance(0.4)) m.Set("alpha", m.r.Between(0.5, 2));
  m.c.typed = false;
}

bool PlainQGemm(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *Maybe(c, 0), &b = *Maybe(c, 3);
  const bool left = IntOr(c, "transA", 0) != 0, right = IntOr(c, "transB", 0) != 0;
  const int64_t rows = a.dims[left ? 1 : 0], inner = a.dims[left ? 0 : 1],
                columns = b.dims[right ? 0 : 1];
  if (out->dims != Dims{rows, columns}) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t row = i / columns, col = i % columns;
    double sum = ElementOr(Maybe(c, 6), col, 0);
    for (int64_t k = 0; k < inner; ++k) {
      sum += (ElementAsDouble(a, left ? k * rows + row : row * inner + k) -
              ElementAsDouble(*Maybe(c, 2), 0)) *
             (ElementAsDouble(b, right ? col * inner + k : k * columns + col) -
              ElementOr(Maybe(c, 5), col, 0));
    }
    double scale = InF32(ElementAsDouble(*Maybe(c, 1), 0) * ElementOr(Maybe(c, 4), col, 1));
    scale = InF32(scale * InF32(FloatOr(c, "alpha", 1)));
    const double v = InF32(InF32(sum) * scale);
    if (Maybe(c, 7) != nullptr) {
      SetByte(c, 7, out, i, v);
    } else {
      SetElement(out, i, v);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_gemm) = {"com.microsoft.QGemm", QGemmCase, 2e-6, Error::kOfElement,
                                  PlainQGemm};

}  // namespace ge::test
