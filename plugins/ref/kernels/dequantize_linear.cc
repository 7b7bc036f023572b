#include "plugins/ref/kernels/quantize.h"

namespace ref {
namespace {

struct DequantizePlan {
  QuantizeGrid grid;
  CastCodec x, scale, y;
};

ge_rc RunDequantizeLinear(const DequantizePlan& p, const Call& c) {
  const Tensor x = c.in(0), scale = c.in(1), y = c.out(0);
  const void* zeros = c.has_in(2) ? c.in(2).data : nullptr;
  CastBlock in, out;
  GridWalk walk(p.grid);
  int64_t known = -1;
  double s = 1, zero = 0;
  for (int64_t at = 0; at < y.count; at += kCastBlock) {
    const int64_t n = std::min(y.count - at, kCastBlock);
    p.x.decode(x.data, at, n, &in);
    for (int64_t i = 0; i < n; ++i, walk.Next()) {
      if (walk.scale() != known) {
        known = walk.scale();
        s = RealAt(p.scale, scale.data, known);
        zero = zeros == nullptr ? 0 : RealAt(p.x, zeros, known);
      }
      out.d[i] = (MidReal(in, p.x.mid, i) - zero) * s;
    }
    p.y.encode(out, Mid::kReal, y.data, at, n, {});
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareDequantizeLinear(const NodeView& n, Why* why) {
  DequantizePlan p;
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDims(n.in(0), n.out(0), why) ||
      (n.has_in(2) && !NeedSameDType(n.in(2), n.in(0), why)) ||
      !PlanQuantizeGrid(n, &p.grid, why)) {
    return nullptr;
  }
  p.x = FindCastCodec(n.in(0).dtype);
  p.scale = FindCastCodec(n.in(1).dtype);
  p.y = FindCastCodec(n.out(0).dtype);
  if (p.x.decode == nullptr) return NoDType(n.in(0), why), nullptr;
  if (p.scale.decode == nullptr) return NoDType(n.in(1), why), nullptr;
  if (!IsFloatDType(n.out(0).dtype)) return NoDType(n.out(0), why), nullptr;
  auto made = Make([p](const Call& c) { return RunDequantizeLinear(p, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(dequantize_linear, "DequantizeLinear", PrepareDequantizeLinear)
