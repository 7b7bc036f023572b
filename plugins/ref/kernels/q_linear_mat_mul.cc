#include "plugins/ref/kernels/quantized_product.h"

namespace ref {
namespace {

struct QLinearMatMulPlan {
  QuantizedProduct product;
  LineParam a_scale, b_scale;
  CastCodec y_scale, y;
  WholeRange range;
};

// At most kCastBlock results, rounded and stored.
void StoreQuantized(const QLinearMatMulPlan& p, const double* v, int64_t n, double zero,
                    uint8_t* to) {
  CastBlock block;
  const bool whole = p.range.whole();
  for (int64_t i = 0; i < n; ++i) {
    if (whole) {
      block.i[i] = p.range.Nearest(v[i], zero);
    } else {
      block.d[i] = v[i] + zero;
    }
  }
  p.y.encode(block, whole ? Mid::kInt : Mid::kReal, to, 0, n, {});
}

ge_rc RunQLinearMatMul(const QLinearMatMulPlan& p, const Call& c) {
  const double y_scale = RealAt(p.y_scale, c.in(6).data, 0);
  const double y_zero = RealAt(p.y, c.in(7).data, 0);
  uint8_t* y = c.out(0).as<uint8_t>();
  const int64_t cols = p.product.plan.cols;
  RunQuantizedProduct(
      p.product, c, [&](int64_t to, int64_t ia, int64_t row, int64_t ib, const double* sums) {
        const double a_scale = p.a_scale.At(c.in(1), ia, row);
        double piece[kCastBlock];
        for (int64_t j0 = 0; j0 < cols; j0 += kCastBlock) {
          const int64_t n = std::min(cols - j0, kCastBlock);
          for (int64_t j = 0; j < n; ++j) {
            piece[j] = sums[j0 + j] * (a_scale * p.b_scale.At(c.in(4), ib, j0 + j) / y_scale);
          }
          StoreQuantized(p, piece, n, y_zero, y + to + j0);
        }
      });
  return GE_OK;
}

bool PlanQLinearMatMul(const NodeView& n, QLinearMatMulPlan* p, Why* why) {
  p->product.ib = 3;
  p->product.ia_zero = 2;
  p->product.ib_zero = 5;
  if (!PlanQuantizedProduct(n, &p->product, why) ||
      !PlanLineParam(n, 1, n.in(0), true, &p->a_scale, why) ||
      !PlanLineParam(n, 4, n.in(3), false, &p->b_scale, why) ||
      !NeedSameDType(n.in(7), n.out(0), why)) {
    return false;
  }
  if (n.in(6).count != 1 || n.in(7).count != 1) {
    return why->Say(GE_WHY_SHAPE, "the output's scale and zero point are not one element each");
  }
  p->y_scale = FindCastCodec(n.in(6).dtype);
  p->y = FindCastCodec(n.out(0).dtype);
  p->range = RangeOf(n.out(0).dtype);
  if (p->y_scale.decode == nullptr) return NoDType(n.in(6), why);
  for (const TensorType& t : {n.in(0), n.in(3), n.out(0)}) {
    if (ge::plugin::ElementBits(t.dtype) != 8) return NoDType(t, why);
  }
  return p->y.encode != nullptr || NoDType(n.out(0), why);
}

std::unique_ptr<Prepared> PrepareQLinearMatMul(const NodeView& n, Why* why) {
  QLinearMatMulPlan p;
  if (!NeedPorts(n, 8, 8, why) || !PlanQLinearMatMul(n, &p, why)) return nullptr;
  auto made = Make([p](const Call& c) { return RunQLinearMatMul(p, c); });
  made->workspace = p.product.workspace;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(q_linear_mat_mul, "QLinearMatMul", PrepareQLinearMatMul)
