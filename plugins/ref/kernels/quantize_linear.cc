#include "plugins/ref/kernels/quantize.h"

namespace ref {
namespace {

struct QuantizePlan {
  QuantizeGrid grid;
  CastCodec x, scale, zero, y;
  int32_t precision = GE_F32;  // of the division
  WholeRange range;
  CastOptions options;
};

// A zero point is not added when it is 0, so that a float's -0 stays.
double Shifted(double v, double zero) { return zero == 0 ? v : v + zero; }

ge_rc RunQuantizeLinear(const QuantizePlan& p, const Call& c) {
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
        s = RoundToFloat(p.precision, RealAt(p.scale, scale.data, known));
        zero = zeros == nullptr ? 0 : RealAt(p.zero, zeros, known);
      }
      const double v = RoundToFloat(p.precision, MidReal(in, p.x.mid, i));
      const double q = RoundToFloat(p.precision, v / s);
      if (p.range.whole()) {
        out.i[i] = p.range.Nearest(q, zero);
      } else {
        out.d[i] = Shifted(q, zero);
      }
    }
    p.y.encode(out, p.range.whole() ? Mid::kInt : Mid::kReal, y.data, at, n, p.options);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareQuantizeLinear(const NodeView& n, Why* why) {
  QuantizePlan p;
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDims(n.in(0), n.out(0), why) ||
      (n.has_in(2) && !NeedSameDType(n.in(2), n.out(0), why)) ||
      !PlanQuantizeGrid(n, &p.grid, why)) {
    return nullptr;
  }
  const int32_t scale = n.in(1).dtype;
  p.x = FindCastCodec(n.in(0).dtype);
  p.scale = FindCastCodec(scale);
  p.y = p.zero = FindCastCodec(n.out(0).dtype);
  if (p.x.decode == nullptr) return NoDType(n.in(0), why), nullptr;
  if (p.scale.decode == nullptr) return NoDType(n.in(1), why), nullptr;
  if (p.y.encode == nullptr) return NoDType(n.out(0), why), nullptr;
  // A scale that is no float of 16 bits or more has no division of its own: exponents alone are
  // divided by in f32, integers exactly.
  const int64_t stated = n.Int("precision");
  p.precision = stated != 0           ? static_cast<int32_t>(stated)
                : IsFloatDType(scale) ? scale
                : scale == GE_F8E8M0  ? static_cast<int32_t>(GE_F32)
                                      : static_cast<int32_t>(GE_F64);
  if (!IsFloatDType(p.precision)) {
    return why->Say(GE_WHY_ATTRIBUTE, "precision is no float dtype"), nullptr;
  }
  p.range = RangeOf(n.out(0).dtype);
  p.options.saturate = n.Int("saturate") != 0;
  auto made = Make([p](const Call& c) { return RunQuantizeLinear(p, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(quantize_linear, "QuantizeLinear", PrepareQuantizeLinear)
