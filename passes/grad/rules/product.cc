// Products: what multiplies an element is the product of all others, which holds where some are 0.
#include <algorithm>

#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

Val CumProd(Val x, bool exclusive, bool reverse) {
  return x.fn->Op("CumProd", {x, x.fn->Scalar(GE_I64, -1)},
                  Attrs().Int("exclusive", exclusive).Int("reverse", reverse));
}

// The axes go to the end and become one; products of what stands before and behind meet there.
void ReduceProdBack(Back& b) {
  const Val x = b.x();
  const int32_t rank = b.rank(x);
  std::vector<int64_t> axes, perm, back(static_cast<size_t>(std::max(rank, 0)));
  if (rank < 0) return b.Fail("an input's rank is not known");
  if (b.x(1) && !b.Known(b.x(1), &axes)) return b.Fail("its axes are no constant");
  if (axes.empty() && b.Int("noop_with_empty_axes") != 0) return b.Give(0, b.ct());
  if (rank == 0) return b.Give(0, b.ct());
  std::vector<bool> gone(static_cast<size_t>(rank), axes.empty());
  for (const int64_t a : axes) gone[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  for (const bool last : {false, true}) {
    for (int64_t i = 0; i < rank; ++i) {
      if (gone[static_cast<size_t>(i)] == last) perm.push_back(i);
    }
  }
  for (size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  std::vector<Val> kept;
  const Val moved = Transpose(x, perm);
  const auto stay = static_cast<int64_t>(std::count(gone.begin(), gone.end(), false));
  for (int64_t place = 0; place < stay; ++place) kept.push_back(SizeOf(moved, place));
  kept.push_back(CountOf(moved, AxesFrom(stay, rank)));
  const Val rows = ReshapeTo(moved, kept);
  kept.back() = b.fn().Ints({1});
  const Val others = CumProd(rows, true, false) * CumProd(rows, true, true);
  const Val cts = ReshapeTo(b.ct(), kept) * others;
  b.Give(0, Transpose(ReshapeLike(cts, moved), back));
}

// dx_k = sum over i of ct_i times the product of those of i's factors that are not x_k.
void CumProdBack(Back& b) {
  Fn& fn = b.fn();
  std::vector<int64_t> at;
  if (!b.Known(b.x(1), &at) || at.size() != 1) return b.Fail("its axis is no constant");
  const int64_t axis = b.Axis(at[0], b.x()), rank = b.rank(b.x());
  if (axis < 0) return;
  const bool exclusive = b.Int("exclusive") != 0, reverse = b.Int("reverse") != 0;
  std::vector<int64_t> perm = AxesFrom(0, rank);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  const Val x = Transpose(b.x(), perm), ct = Transpose(b.ct(), perm);
  const int32_t dtype = b.type(x).dtype;
  const Val i = Iota(SizeOf(x, rank - 1));
  const Val k = Unsqueeze(i, {1}), j = Unsqueeze(i, {0});
  const Val all = Where(Compare("Equal", k, j), fn.Scalar(dtype, 1), Unsqueeze(x, {-2}));
  const char* order =
      reverse ? (exclusive ? "Greater" : "GreaterOrEqual") : (exclusive ? "Less" : "LessOrEqual");
  const Val mask = Ones(Compare(order, k, j), dtype);
  const Val terms = CumProd(all, exclusive, reverse) * mask * Unsqueeze(ct, {-2});
  b.Give(0, Transpose(ReduceSum(terms, {-1}, false), perm));
}

Val Inverse(Val x) { return x.fn->Node("com.microsoft", "Inverse", {x}, {}, 1)[0]; }

// det(X) X^-T: not of a singular matrix.
void DetBack(Back& b) { b.Give(0, Unsqueeze(b.ct() * b.y(), {-2, -1}) * SwapLast(Inverse(b.x()))); }

void InverseBack(Back& b) {
  const Val turned = SwapLast(b.y());
  b.Give(0, -MatMul(MatMul(turned, b.ct()), turned));
}

}  // namespace

GE_GRAD(product) {
  return {{"", "ReduceProd", ReduceProdBack, {{1, "axes"}}},
          {"", "CumProd", CumProdBack, {{1, "an axis"}}},
          {"", "Det", DetBack},
          {"com.microsoft", "Inverse", InverseBack}};
}

}  // namespace ge::grad
