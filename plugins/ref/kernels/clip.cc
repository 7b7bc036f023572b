#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

// min(max(x, lo), hi): with lo > hi everything becomes hi; NaN stays NaN.
template <class T>
ge_rc RunClip(const Call& c) {
  using W = Arith<T>;
  const Tensor x = c.in(0), y = c.out(0);
  const bool has_lo = c.has_in(1), has_hi = c.has_in(2);
  const W lo = has_lo ? Widen(Load(c.in(1).as<T>(), 0)) : W(0);
  const W hi = has_hi ? Widen(Load(c.in(2).as<T>(), 0)) : W(0);
  const T* in = x.as<T>();
  T* out = y.as<T>();
  for (int64_t i = 0; i < y.count; ++i) {
    W v = Widen(in[i]);
    if (has_lo && v < lo) v = lo;
    if (has_hi && v > hi) v = hi;
    out[i] = Narrow<T>(v);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareClip(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  for (uint32_t i = 1; i < 3; ++i) {
    if (!n.has_in(i)) continue;
    if (!NeedSameDType(n.in(0), n.in(i), why)) return nullptr;
    if (n.in(i).count != 1) {
      why->Say(GE_WHY_SHAPE, "bound %u has %lld elements, one is wanted", i,
               static_cast<long long>(n.in(i).count));
      return nullptr;
    }
  }
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([](const Call& c) { return RunClip<T>(c); });
        made->in_place = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(clip, "Clip", PrepareClip)
