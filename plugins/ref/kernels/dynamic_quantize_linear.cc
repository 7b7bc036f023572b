#include "plugins/ref/kernels/quantize.h"

namespace ref {
namespace {

// Every step is rounded to f32, as ONNX's function body has it. A range of zero counts as one.
ge_rc RunDynamicQuantizeLinear(const Call& c) {
  const Tensor tx = c.in(0), ty = c.out(0);
  const float* x = tx.as<float>();
  uint8_t* y = ty.as<uint8_t>();
  const WholeRange range = RangeOf(GE_U8);
  float least = 0, most = 0;
  for (int64_t i = 0; i < tx.count; ++i) {
    const float v = Load(x, i);
    if (v < least) least = v;
    if (v > most) most = v;
  }
  const float scale = (least == most ? 1.0f : most - least) / 255.0f;
  const int64_t zero = range.Nearest(0.0f - least / scale, 0);
  for (int64_t i = 0; i < tx.count; ++i) {
    const float q = Load(x, i) / scale;
    y[i] = static_cast<uint8_t>(range.Nearest(q, static_cast<double>(zero)));
  }
  if (c.has_out(1)) Store(c.out(1).as<float>(), 0, scale);
  if (c.has_out(2)) *c.out(2).as<uint8_t>() = static_cast<uint8_t>(zero);
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareDynamicQuantizeLinear(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  if (n.in(0).dtype != GE_F32) return NoDType(n.in(0), why), nullptr;
  if (n.out(0).dtype != GE_U8) return NoDType(n.out(0), why), nullptr;
  for (uint32_t i = 1; i < n.n_out(); ++i) {
    if (!n.has_out(i)) continue;
    const int32_t wanted = i == 1 ? static_cast<int32_t>(GE_F32) : static_cast<int32_t>(GE_U8);
    if (i > 2 || n.out(i).dtype != wanted || n.out(i).count != 1) {
      return why->Say(GE_WHY_SHAPE, "output %u is not what the operator gives", i), nullptr;
    }
  }
  auto made = Make(RunDynamicQuantizeLinear);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(dynamic_quantize_linear, "DynamicQuantizeLinear", PrepareDynamicQuantizeLinear)
