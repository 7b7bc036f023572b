// Shared by GlobalAveragePool and GlobalMaxPool: each plane of x [N, C, spatial...] becomes one
// element of y [N, C, 1...]. Immutable once prepared; any thread.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

// Pool::Of(x, area) gives the element of `area` elements from x on.
template <class Pool>
std::unique_ptr<Prepared> PrepareGlobalPool(const NodeView& n, Why* why) {
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
        made = Make([area](const Call& c) {
          const T* from = c.in(0).as<T>();
          const Tensor to = c.out(0);
          T* y = to.as<T>();
          for (int64_t p = 0; p < to.count; ++p, from += area) y[p] = Pool::Of(from, area);
          return GE_OK;
        });
        made->const_align = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace ref
