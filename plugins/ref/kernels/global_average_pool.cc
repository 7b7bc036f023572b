#include "plugins/ref/checks.h"

namespace ref {
namespace {

template <class T>
ge_rc RunGlobalAveragePool(int64_t area, const Call& c) {
  const T* x = c.in(0).as<T>();
  const Tensor ty = c.out(0);
  T* y = ty.as<T>();
  for (int64_t p = 0; p < ty.count; ++p, x += area) {
    double sum = 0;
    for (int64_t i = 0; i < area; ++i) sum += Widen(Load(x, i));
    y[p] = Narrow<T>(sum / static_cast<double>(area));
  }
  return GE_OK;
}

// x [N, C, spatial...] -> y [N, C, 1...].
std::unique_ptr<Prepared> PrepareGlobalAveragePool(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0);
  if (x.rank < 2) return why->Say(GE_WHY_SHAPE, "rank 2 or more is wanted"), nullptr;
  int64_t want[kMaxRank];
  for (int d = 0; d < x.rank; ++d) want[d] = d < 2 ? x.dims[d] : 1;
  if (!NeedOutDims(n, {want, static_cast<size_t>(x.rank)}, why)) return nullptr;
  const int64_t area = PartCount(x.shape(), 2, x.rank);
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([area](const Call& c) { return RunGlobalAveragePool<T>(area, c); });
        made->const_align = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(global_average_pool, "GlobalAveragePool", PrepareGlobalAveragePool)
