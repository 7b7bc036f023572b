#include "plugins/ref/checks.h"

namespace ref {
namespace {

// y[i] = start + i * delta. Floats are computed in double, integers wrap. ONNX lets stash_type
// widen 16-bit floats; double is at least as wide as any stash_type.
template <class T>
ge_rc RunRange(const Call& c) {
  using W = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  const W start = static_cast<W>(Widen(Load(c.in(0).as<T>(), 0)));
  const W delta = static_cast<W>(Widen(Load(c.in(2).as<T>(), 0)));
  const Tensor y = c.out(0);
  T* out = y.as<T>();
  for (int64_t i = 0; i < y.count; ++i) out[i] = Narrow<T>(start + static_cast<W>(i) * delta);
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareRange(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 3, 3, why)) return nullptr;
  for (uint32_t i = 0; i < 3; ++i) {
    if (!NeedSameDType(n.in(i), n.out(0), why)) return nullptr;
    if (n.in(i).count != 1) return why->Say(GE_WHY_SHAPE, "input %u is no scalar", i), nullptr;
  }
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(n.out(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([](const Call& c) { return RunRange<T>(c); });
        made->const_align = 1;
      })) {
    NoDType(n.out(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(range, "Range", PrepareRange)
