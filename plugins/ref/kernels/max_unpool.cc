#include <algorithm>

#include "plugins/ref/kernels/window.h"

namespace ref {
namespace {

// Indices count in a tensor of the dims that the attributes give; when output_shape is larger, that
// tensor lies in its corner.
struct UnpoolPlan {
  int rank;
  int64_t dims[kMaxRank], step[kMaxRank];  // of the indices; step: in the output
  int64_t count = 1;
};

template <class T>
ge_rc RunMaxUnpool(const UnpoolPlan& p, const Call& c) {
  const Tensor tx = c.in(0), ty = c.out(0);
  const T* x = tx.as<T>();
  const int64_t* index = c.in(1).as<int64_t>();
  T* y = ty.as<T>();
  if (ty.bytes != 0) std::memset(ty.data, 0, ty.bytes);
  for (int64_t i = 0; i < tx.count; ++i) {
    int64_t rest = Load(index, i), to = 0;
    if (rest < 0 || rest >= p.count) {
      return c.Fail(GE_INVALID_ARGUMENT, "index %lld at %lld, wanted 0 to %lld",
                    static_cast<long long>(rest), static_cast<long long>(i),
                    static_cast<long long>(p.count - 1));
    }
    for (int d = p.rank - 1; d >= 0; --d) {
      to += rest % p.dims[d] * p.step[d];
      rest /= p.dims[d];
    }
    y[to] = Load(x, i);
  }
  return GE_OK;
}

bool PlanMaxUnpool(const NodeView& n, UnpoolPlan* p, Why* why) {
  Window w{};
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.in(1), why) || !ReadWindow(n, n.out(0), n.in(0), nullptr, &w, why)) {
    return false;
  }
  const TensorType x = n.in(0), y = n.out(0);
  const bool given = n.n_in() > 2 && n.has_in(2);
  p->rank = x.rank;
  DenseStrides(y.shape(), p->step);
  for (int d = 0; d < x.rank; ++d) {
    p->dims[d] = x.dims[d];
    if (d >= 2) {
      const int s = d - 2;
      p->dims[d] = (x.dims[d] - 1) * w.stride[s] + w.kernel[s] - w.pad[s] - w.pad_end[s];
    }
    const bool fits = given && d >= 2 ? p->dims[d] <= y.dims[d] : p->dims[d] == y.dims[d];
    if (!fits) return why->Say(GE_WHY_SHAPE, "output dim %d is not what the attributes give", d);
    p->dims[d] = std::max<int64_t>(0, p->dims[d]);
  }
  for (int d = 0; d < x.rank && y.count != 0; ++d) p->count *= p->dims[d];
  if (y.count == 0) p->count = 0;
  return true;
}

std::unique_ptr<Prepared> PrepareMaxUnpool(const NodeView& n, Why* why) {
  UnpoolPlan p{};
  if (!PlanMaxUnpool(n, &p, why)) return nullptr;
  if (n.in(1).dtype != GE_I64) return NoDType(n.in(1), why), nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunMaxUnpool<T>(p, c); });
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(max_unpool, "MaxUnpool", PrepareMaxUnpool)
