#include "tools/ge_test/random_microsoft.h"

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
  const Dims batch = m.large ? LargeBatch(m) : m.Shape(0, 2, false);
  const ProductSize large = m.large ? LargeProduct(m, CountOf(batch) * 4) : ProductSize{};
  const int64_t inner = m.large ? large.depth : m.r.Int(1, 8);
  const struct {
    const char *turn, *move;
    Dims to;
  } sides[] = {
      {"transA", "transBatchA", Cat(batch, {m.large ? large.rows : m.r.Int(1, 6), inner})},
      {"transB", "transBatchB", Cat(batch, {inner, m.large ? large.columns : m.r.Int(1, 6)})}};
  for (const auto& side : sides) {
    const bool turned = m.r.Chance(0.4), moved = m.r.Chance(0.3);
    m.Add(Signal(m, FusedMatMulSource(side.to, turned, moved)));
    if (turned) m.Set(side.turn, int64_t{1});
    if (moved) m.Set(side.move, int64_t{1});
  }
  if (m.r.Chance(0.6)) m.Set("alpha", m.r.Between(-2, 2));
}

}  // namespace

GE_RANDOM_OP(microsoft_fused_mat_mul) = {"com.microsoft.FusedMatMul", FusedMatMulCase, 4e-6,
                                         Error::kOfTerms};

}  // namespace ge::test
