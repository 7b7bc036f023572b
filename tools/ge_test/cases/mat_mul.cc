#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void MatMulCase(CaseMaker& m) {
  if (m.large) {
    const auto [a, b] = LargeSides(m);
    m.Add(Signal(m, a));
    m.AddWeight(Signal(m, b));
    return;
  }
  const int64_t k = m.r.Chance(0.05) ? 0 : m.r.Int(1, 12);
  const Dims batch = m.Shape(0, 2);
  Dims a = Cat(m.r.Chance(0.6) ? batch : m.Narrowed(batch), {m.r.Int(1, 7), k});
  Dims b = Cat(m.r.Chance(0.6) ? batch : m.Narrowed(batch), {k, m.r.Int(1, 7)});
  if (m.r.Chance(0.1)) a = {k};
  if (m.r.Chance(0.1)) b = {k};
  m.Add(Signal(m, a));
  m.Add(Signal(m, b));
}

bool PlainMatMul(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
  // As ONNX says: a vector gets a 1 before or behind it, which leaves the result again.
  Dims ad = a.dims, bd = b.dims, od = out->dims;
  if (bd.size() == 1) {
    bd.push_back(1);
    od.push_back(1);
  }
  if (ad.size() == 1) {
    ad.insert(ad.begin(), 1);
    od.insert(od.end() - 1, 1);
  }
  const int64_t k = ad.back();
  if (od[od.size() - 2] != ad[ad.size() - 2] || od.back() != bd.back()) return false;
  const auto place = [](const Dims& dims, const Dims& at, int64_t row, int64_t col) {
    int64_t i = 0;
    const size_t skip = at.size() - dims.size();
    for (size_t d = 0; d + 2 < dims.size(); ++d) {
      i = i * dims[d] + (dims[d] == 1 ? 0 : at[skip + d]);
    }
    return (i * dims[dims.size() - 2] + row) * dims.back() + col;
  };
  Index at(od);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t row = at.at[od.size() - 2], col = at.at.back();
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += ElementAsDouble(a, place(ad, at.at, row, j)) *
             ElementAsDouble(b, place(bd, at.at, j, col));
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(mat_mul) = {"MatMul", MatMulCase, 4e-6, Error::kOfSums, PlainMatMul};

}  // namespace ge::test
