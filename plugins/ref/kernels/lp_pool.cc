#include "plugins/ref/kernels/lp_norm.h"
#include "plugins/ref/kernels/window.h"

namespace ref {
namespace {

template <class T>
ge_rc RunLpPool(const Window& w, int64_t power, const Call& c) {
  const Tensor tx = c.in(0);
  const T* x = tx.as<T>();
  T* y = c.out(0).as<T>();
  const int64_t planes = PartCount(tx.shape(), 0, 2);
  for (int64_t p = 0; p < planes; ++p, x += w.in_count, y += w.out_count) {
    ForEachWindow(w, [&](int64_t i, const int64_t* at, const Taps* taps) {
      LpNorm norm(power);
      ForEachRun(w, at, taps, [&](int64_t from, int64_t n, int64_t step) {
        for (int64_t k = 0; k < n; ++k) norm.Add(Widen(Load(x, from + k * step)));
      });
      y[i] = Narrow<T>(norm.Result());
    });
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareLpPool(const NodeView& n, Why* why) {
  Window w{};
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !ReadWindow(n, n.in(0), n.out(0), nullptr, &w, why) || !ResolveAutoPad(n, &w, why)) {
    return nullptr;
  }
  if (!SameDims({n.in(0).dims, 2}, {n.out(0).dims, 2})) {
    return why->Say(GE_WHY_SHAPE, "batch or channels of input and output differ"), nullptr;
  }
  const int64_t power = n.Int("p");
  if (power < 1) return why->Say(GE_WHY_ATTRIBUTE, "p is not positive"), nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([=](const Call& c) { return RunLpPool<T>(w, power, c); });
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(lp_pool, "LpPool", PrepareLpPool)
