#include "plugins/ref/checks.h"
#include "plugins/ref/kernels/gemm.h"

namespace ref {
namespace {

struct MatMulPlan {
  int64_t rows = 1, depth = 0, cols = 1;
  LoopNest<3> batch;  // operands out, a, b; offsets in matrices
};

template <class T>
ge_rc RunMatMul(const MatMulPlan& p, const Call& c) {
  const T *a = c.in(0).as<T>(), *b = c.in(1).as<T>();
  T* y = c.out(0).as<T>();
  const auto one = [&](int64_t iy, int64_t ia, int64_t ib) {
    T* out = y + iy * p.rows * p.cols;
    MatrixProduct(a + ia * p.rows * p.depth, p.depth, 1, b + ib * p.depth * p.cols, p.cols, 1,
                  p.rows, p.depth, p.cols, c.workspace(),
                  [&](int64_t r, int64_t j0, int64_t n, const Sum<T>* total) {
                    T* row = out + r * p.cols + j0;
                    for (int64_t j = 0; j < n; ++j) row[j] = Narrow<T>(total[j]);
                  });
  };
  p.batch.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) one(o[0] + i * s[0], o[1] + i * s[1], o[2] + i * s[2]);
    return true;
  });
  return GE_OK;
}

// Dims of an operand as [batch..., row, col]; a vector gets a dim of one on the given side.
struct Operand {
  int64_t dims[kMaxRank + 1];
  size_t rank;
  Ints batch() const { return {dims, rank - 2}; }
  Operand(Ints shape, bool one_first) : rank(shape.size()) {
    for (size_t i = 0; i < rank; ++i) dims[i] = shape[i];
    if (rank != 1) return;
    rank = 2;
    dims[one_first ? 1 : 0] = shape[0];
    dims[one_first ? 0 : 1] = 1;
  }
};

bool PlanMatMul(const NodeView& n, MatMulPlan* p, Why* why) {
  const TensorType ta = n.in(0), tb = n.in(1), ty = n.out(0);
  if (ta.rank < 1 || tb.rank < 1) return why->Say(GE_WHY_SHAPE, "a scalar is no matrix");
  const Operand a(ta.shape(), true), b(tb.shape(), false);
  p->rows = a.dims[a.rank - 2];
  p->depth = a.dims[a.rank - 1];
  p->cols = b.dims[b.rank - 1];
  const size_t lead = static_cast<size_t>(ty.rank + (ta.rank == 1) + (tb.rank == 1)) - 2;
  int64_t want[kMaxRank + 2];
  size_t rank = lead;
  if (b.dims[b.rank - 2] != p->depth || ty.rank + (ta.rank == 1) + (tb.rank == 1) < 2) {
    return why->Say(GE_WHY_SHAPE, "inner dims %lld and %lld differ",
                    static_cast<long long>(p->depth), static_cast<long long>(b.dims[b.rank - 2]));
  }
  for (size_t i = 0; i < lead && i < kMaxRank; ++i) want[i] = ty.dims[i];
  if (ta.rank != 1) want[rank++] = p->rows;
  if (tb.rank != 1) want[rank++] = p->cols;
  if (!NeedOutDims(n, {want, rank}, why)) return false;
  const Ints batch{ty.dims, lead};
  int64_t sy[kMaxRank], sa[kMaxRank], sb[kMaxRank];
  DenseStrides(batch, sy);
  if (!BroadcastStrides(a.batch(), batch, sa) || !BroadcastStrides(b.batch(), batch, sb)) {
    return why->Say(GE_WHY_SHAPE, "batch dims do not broadcast to the output's");
  }
  for (size_t i = 0; i < lead; ++i) p->batch.Add(batch[i], {sy[i], sa[i], sb[i]});
  return true;
}

std::unique_ptr<Prepared> PrepareMatMul(const NodeView& n, Why* why) {
  MatMulPlan p{};
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.in(1), why) ||
      !NeedSameDType(n.in(0), n.out(0), why) || !PlanMatMul(n, &p, why)) {
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([p](const Call& c) { return RunMatMul<T>(p, c); });
    made->workspace = PanelBytes<T>(p.depth);
    made->const_align = 1;
  };
  const int32_t dtype = n.in(0).dtype;
  if (!VisitFloat(dtype, make) && !VisitWideInt(dtype, make)) NoDType(n.in(0), why);
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(mat_mul, "MatMul", 1, PrepareMatMul)
