#include "plugins/ref/kernels/quantized_product.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareMatMulInteger(const NodeView& n, Why* why) {
  QuantizedProduct p;
  if (!NeedPorts(n, 2, 4, why)) return nullptr;
  p.ia_zero = n.n_in() > 2 && n.has_in(2) ? 2 : 0;
  p.ib_zero = n.n_in() > 3 && n.has_in(3) ? 3 : 0;
  if (!PlanQuantizedProduct(n, &p, why)) return nullptr;
  for (const uint32_t i : {0u, 1u}) {
    const int32_t dtype = n.in(i).dtype;
    if (dtype != GE_I8 && dtype != GE_U8) return NoDType(n.in(i), why), nullptr;
  }
  if (n.out(0).dtype != GE_I32) return NoDType(n.out(0), why), nullptr;
  auto made = Make([p](const Call& c) {
    int32_t* y = c.out(0).as<int32_t>();
    const int64_t cols = p.plan.cols;
    RunQuantizedProduct(p, c, [&](int64_t to, int64_t, int64_t, int64_t, const double* sums) {
      for (int64_t j = 0; j < cols; ++j) y[to + j] = IntOf<int32_t>(sums[j]);
    });
    return static_cast<ge_rc>(GE_OK);
  });
  made->workspace = p.workspace;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(mat_mul_integer, "MatMulInteger", PrepareMatMulInteger)
