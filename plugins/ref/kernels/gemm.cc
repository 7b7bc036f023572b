#include "plugins/ref/kernels/gemm.h"

#include "plugins/ref/checks.h"

namespace ref {
namespace {

struct GemmPlan {
  int64_t rows, depth, cols;
  int64_t a_row, a_k, b_k, b_j;
  int64_t c_row = 0, c_col = 0;  // steps of the broadcast C
  double alpha, beta;
};

// factor * v. Integers: exact modulo 2^n for a whole factor, else truncated.
template <class T>
Sum<T> Scale(double factor, Sum<T> v) {
  if constexpr (kIsFloat<T>) {
    return factor * v;
  } else {
    if (factor == std::floor(factor) && std::fabs(factor) < 0x1p63) {
      return static_cast<Sum<T>>(static_cast<int64_t>(factor)) * v;
    }
    return static_cast<Sum<T>>(IntOf<T>(factor * static_cast<double>(static_cast<T>(v))));
  }
}

template <class T>
ge_rc RunGemm(const GemmPlan& p, const Call& c) {
  T* y = c.out(0).as<T>();
  const T* bias = c.has_in(2) ? c.in(2).as<T>() : nullptr;
  MatrixProduct(c.in(0).as<T>(), p.a_row, p.a_k, c.in(1).as<T>(), p.b_k, p.b_j, p.rows, p.depth,
                p.cols, c.workspace(), [&](int64_t r, int64_t j0, int64_t n, const Sum<T>* total) {
                  T* row = y + r * p.cols;
                  for (int64_t j = 0; j < n; ++j) {
                    Sum<T> v = Scale<T>(p.alpha, total[j]);
                    if (bias != nullptr) {
                      const T b = Load(bias, r * p.c_row + (j0 + j) * p.c_col);
                      v += Scale<T>(p.beta, static_cast<Sum<T>>(Widen(b)));
                    }
                    row[j0 + j] = Narrow<T>(v);
                  }
                });
  return GE_OK;
}

bool PlanGemm(const NodeView& n, GemmPlan* p, Why* why) {
  const TensorType a = n.in(0), b = n.in(1);
  if (a.rank != 2 || b.rank != 2) return why->Say(GE_WHY_SHAPE, "A and B must be matrices");
  const bool ta = n.Int("transA") != 0, tb = n.Int("transB") != 0;
  p->rows = a.dims[ta ? 1 : 0];
  p->depth = a.dims[ta ? 0 : 1];
  p->cols = b.dims[tb ? 0 : 1];
  if (b.dims[tb ? 1 : 0] != p->depth) return why->Say(GE_WHY_SHAPE, "inner dims differ");
  const int64_t want[2] = {p->rows, p->cols};
  if (!NeedOutDims(n, {want, 2}, why)) return false;
  p->a_row = ta ? 1 : p->depth;
  p->a_k = ta ? p->rows : 1;
  p->b_k = tb ? 1 : p->cols;
  p->b_j = tb ? p->depth : 1;
  p->alpha = n.Float("alpha");
  p->beta = n.Float("beta");
  if (!n.has_in(2)) return true;
  int64_t stride[kMaxRank];
  if (!NeedSameDType(a, n.in(2), why)) return false;
  if (!BroadcastStrides(n.in(2).shape(), n.out(0).shape(), stride)) {
    return why->Say(GE_WHY_SHAPE, "C does not broadcast to the output");
  }
  p->c_row = stride[0];
  p->c_col = stride[1];
  return true;
}

std::unique_ptr<Prepared> PrepareGemm(const NodeView& n, Why* why) {
  GemmPlan p{};
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDType(n.in(0), n.in(1), why) ||
      !NeedSameDType(n.in(0), n.out(0), why) || !PlanGemm(n, &p, why)) {
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([p](const Call& c) { return RunGemm<T>(p, c); });
    made->workspace = PanelBytes<T>(p.depth);
    made->const_align = 1;
  };
  const int32_t dtype = n.in(0).dtype;
  if (!VisitFloat(dtype, make) && !VisitWideInt(dtype, make)) NoDType(n.in(0), why);
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(gemm, "Gemm", PrepareGemm)
