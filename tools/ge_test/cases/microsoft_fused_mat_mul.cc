#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// The shape that becomes `to` when it is turned as the flags say.
Dims FusedMatMulSource(const Dims& to, bool turned, bool moved) {
  Dims from = to;
  const size_t n = from.size();
  if (turned) std::swap(from[n - 1], from[n - 2]);
  if (moved) std::rotate(from.begin(), from.end() - 2, from.end() - 1);
  return from;
}

void FusedMatMulCase(CaseMaker& m) {
  // Cubes are operands whatever is turned.
  const int64_t cube = !m.large && m.r.Chance(0.25) ? m.r.Int(2, 4) : 0;
  const Dims batch = cube > 0 ? Dims{cube} : m.large ? LargeBatch(m) : m.Shape(0, 2, false);
  const ProductSize large = m.large ? LargeProduct(m, CountOf(batch) * 4) : ProductSize{};
  const auto size = [&](int64_t of_large, int64_t most) {
    return cube > 0 ? cube : m.large ? of_large : m.r.Int(1, most);
  };
  const int64_t inner = size(large.depth, 8);
  const struct {
    const char *turn, *move;
    Dims to;
  } sides[] = {{"transA", "transBatchA", Cat(batch, {size(large.rows, 6), inner})},
               {"transB", "transBatchB", Cat(batch, {inner, size(large.columns, 6)})}};
  for (const auto& side : sides) {
    const bool turned = m.r.Chance(0.4), moved = m.r.Chance(0.3);
    m.Add(Signal(m, FusedMatMulSource(side.to, turned, moved)));
    if (turned) m.Set(side.turn, int64_t{1});
    if (moved) m.Set(side.move, int64_t{1});
  }
  if (m.r.Chance(0.6)) m.Set("alpha", m.r.Between(-2, 2));
}

// Where element (row, column) of the matrix at `batch` lies in a side as it is stored.
int64_t FusedMatMulPlace(const HostTensor& t, bool turned, bool moved, const Dims& batch,
                         int64_t row, int64_t column) {
  Dims at = batch;
  at.push_back(turned ? column : row);
  if (moved) {
    at.insert(at.begin(), at.back());
    at.pop_back();
  }
  at.push_back(turned ? row : column);
  // The axis that stands in front of the batch is the one before the last of what it becomes.
  return Flat(t.dims, at);
}

bool PlainFusedMatMul(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
  const bool ta = IntOr(c, "transA", 0) != 0, tb = IntOr(c, "transB", 0) != 0,
             ma = IntOr(c, "transBatchA", 0) != 0, mb = IntOr(c, "transBatchB", 0) != 0;
  const size_t rank = out->dims.size();
  const int64_t inner = ta ? a.dims[ma ? 0 : rank - 2] : a.dims[rank - 1];
  const double alpha = FloatOr(c, "alpha", 1);
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const Dims batch(at.at.begin(), at.at.end() - 2);
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      sum += ElementAsDouble(a, FusedMatMulPlace(a, ta, ma, batch, at.at[rank - 2], k)) *
             ElementAsDouble(b, FusedMatMulPlace(b, tb, mb, batch, k, at.at[rank - 1]));
    }
    SetElement(out, i, alpha * sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_fused_mat_mul) = {"com.microsoft.FusedMatMul", FusedMatMulCase, 4e-6,
                                         Error::kOfSums, PlainFusedMatMul};

}  // namespace ge::test
