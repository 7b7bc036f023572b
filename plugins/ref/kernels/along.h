// Along: x as [outer, dim, inner], row by row, for kernels along one axis.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

struct Along {
  int64_t axis = 0, outer = 0, dim = 0, inner = 0;
};

// A scalar is one element along an axis of its own.
inline bool ReadAlong(const TensorType& x, int64_t named, Along* along, Why* why) {
  along->axis = NormalAxis(named, x.rank == 0 ? 1 : x.rank);
  if (along->axis < 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis %lld is outside rank %d", static_cast<long long>(named),
                    x.rank);
  }
  along->outer = PartCount(x.shape(), 0, static_cast<size_t>(along->axis));
  along->dim = x.rank == 0 ? 1 : x.dims[along->axis];
  along->inner =
      PartCount(x.shape(), static_cast<size_t>(along->axis) + 1, static_cast<size_t>(x.rank));
  return true;
}

// y of x's shape, of a float type: R::Row(x, y, n, step, parameter) fills one row.
template <class R>
std::unique_ptr<Prepared> PrepareRows(const NodeView& n, int64_t parameter, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  Along a;
  if (!ReadAlong(n.in(0), n.Int("axis"), &a, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([a, parameter](const Call& c) {
      const T* x = c.in(0).as<T>();
      T* y = c.out(0).as<T>();
      if (c.out(0).count == 0) return static_cast<ge_rc>(GE_OK);
      for (int64_t o = 0; o < a.outer; ++o) {
        for (int64_t i = 0; i < a.inner; ++i) {
          const int64_t at = o * a.dim * a.inner + i;
          R::Row(x + at, y + at, a.dim, a.inner, parameter);
          Spend(a.dim);
        }
      }
      return static_cast<ge_rc>(GE_OK);
    });
    made->in_place = 1;
  };
  if (!VisitFloat(n.in(0).dtype, make)) NoDType(n.in(0), why);
  return made;
}

}  // namespace ref
