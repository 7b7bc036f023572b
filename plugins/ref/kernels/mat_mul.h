// The plan of a batched matrix product, shared by MatMul, MatMulInteger and QLinearMatMul, checked
// against the shapes. Pure.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

struct MatMulPlan {
  int64_t rows = 1, depth = 0, cols = 1;
  LoopNest<3> batch;  // operands out, a, b; offsets in matrices
};

// Dims of an operand as [batch..., row, col]; a vector gets a dim of one on the given side.
struct MatMulOperand {
  int64_t dims[kMaxRank + 1];
  size_t rank;
  Ints batch() const { return {dims, rank - 2}; }
  MatMulOperand(Ints shape, bool one_first) : rank(shape.size()) {
    for (size_t i = 0; i < rank; ++i) dims[i] = shape[i];
    if (rank != 1) return;
    rank = 2;
    dims[one_first ? 1 : 0] = shape[0];
    dims[one_first ? 0 : 1] = 1;
  }
};

// Input 0 times input ib.
inline bool PlanMatMul(const NodeView& n, uint32_t ib, MatMulPlan* plan, Why* why) {
  const TensorType ta = n.in(0), tb = n.in(ib), ty = n.out(0);
  if (ta.rank < 1 || tb.rank < 1) return why->Say(GE_WHY_SHAPE, "a scalar is no matrix");
  const MatMulOperand a(ta.shape(), true), b(tb.shape(), false);
  plan->rows = a.dims[a.rank - 2];
  plan->depth = a.dims[a.rank - 1];
  plan->cols = b.dims[b.rank - 1];
  const size_t lead = static_cast<size_t>(ty.rank + (ta.rank == 1) + (tb.rank == 1)) - 2;
  int64_t want[kMaxRank + 2];
  size_t rank = lead;
  if (b.dims[b.rank - 2] != plan->depth || ty.rank + (ta.rank == 1) + (tb.rank == 1) < 2) {
    return why->Say(GE_WHY_SHAPE, "inner dims %lld and %lld differ",
                    static_cast<long long>(plan->depth),
                    static_cast<long long>(b.dims[b.rank - 2]));
  }
  for (size_t i = 0; i < lead && i < kMaxRank; ++i) want[i] = ty.dims[i];
  if (ta.rank != 1) want[rank++] = plan->rows;
  if (tb.rank != 1) want[rank++] = plan->cols;
  if (!NeedOutDims(n, {want, rank}, why)) return false;
  const Ints batch{ty.dims, lead};
  int64_t sy[kMaxRank], sa[kMaxRank], sb[kMaxRank];
  DenseStrides(batch, sy);
  if (!BroadcastStrides(a.batch(), batch, sa) || !BroadcastStrides(b.batch(), batch, sb)) {
    return why->Say(GE_WHY_SHAPE, "batch dims do not broadcast to the output's");
  }
  for (size_t i = 0; i < lead; ++i) plan->batch.Add(batch[i], {sy[i], sa[i], sb[i]});
  return true;
}

}  // namespace ref
