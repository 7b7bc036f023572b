#include "plugins/ref/kernels/mat_mul.h"

#include "plugins/ref/kernels/gemm.h"

namespace ref {
namespace {

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

std::unique_ptr<Prepared> PrepareMatMul(const NodeView& n, Why* why) {
  MatMulPlan p{};
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.in(1), why) ||
      !NeedSameDType(n.in(0), n.out(0), why) || !PlanMatMul(n, 1, &p, why)) {
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
GE_REF_KERNEL(mat_mul, "MatMul", PrepareMatMul)
