// The index of the greatest or least element along one axis. An operation is a struct with
// Before(a, b): a is strictly better than b.
#pragma once

#include "plugins/ref/kernels/along.h"

namespace ref {

// NaN is better than any number, as in NumPy.
template <class Op, class T>
ge_rc RunArgReduce(const Along& along, bool last, const Call& call) {
  const T* x = call.in(0).as<T>();
  const Tensor y = call.out(0);
  for (int64_t i = 0; i < y.count; ++i) {
    const T* row = x + i / along.inner * along.dim * along.inner + i % along.inner;
    int64_t best = 0;
    auto value = Widen(row[0]);
    for (int64_t k = 1; k < along.dim; ++k) {
      const auto v = Widen(row[k * along.inner]);
      const bool nan = v != v, had_nan = value != value;
      const bool better = had_nan ? false : nan || Op::Before(v, value);
      const bool equal = had_nan ? nan : v == value;
      if (better || (last && equal)) {
        value = v;
        best = k;
      }
    }
    y.as<int64_t>()[i] = best;
  }
  return GE_OK;
}

template <class Op>
std::unique_ptr<Prepared> PrepareArgReduce(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  Along a;
  if (x.rank == 0) return why->Say(GE_WHY_SHAPE, "the input is a scalar"), nullptr;
  if (!ReadAlong(x, n.Int("axis"), &a, why)) return nullptr;
  if (y.dtype != GE_I64) return NoDType(y, why), nullptr;
  if (a.dim == 0) return why->Say(GE_WHY_SHAPE, "the axis has no element"), nullptr;
  if (y.count != x.count / a.dim) {
    return why->Say(GE_WHY_SHAPE, "the stated output shape is not what the operator gives"),
           nullptr;
  }
  const bool last = n.Int("select_last_index") != 0;
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([a, last](const Call& c) { return RunArgReduce<Op, T>(a, last, c); });
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace ref
