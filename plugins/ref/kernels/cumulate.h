// Running sums and products along an axis, read at run time. An operation is a struct with kStart
// and Step(acc, v).
#pragma once

#include "plugins/ref/kernels/along.h"

namespace ref {

// Floats run in double, integers modulo 2^n.
template <class Op, class T>
void CumulateRow(const T* x, T* y, int64_t n, int64_t step, bool exclusive) {
  using W = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  W acc = static_cast<W>(Op::kStart);
  for (int64_t k = 0; k < n; ++k) {
    const W v = static_cast<W>(Widen(x[k * step]));
    if (exclusive) y[k * step] = Narrow<T>(acc);
    acc = Op::Step(acc, v);
    if (!exclusive) y[k * step] = Narrow<T>(acc);
  }
}

template <class Op, class T>
ge_rc RunCumulate(bool exclusive, bool reverse, const Call& call) {
  const Tensor x = call.in(0), y = call.out(0);
  const int64_t named = IntAt(call.in(1), 0), axis = NormalAxis(named, x.rank);
  if (axis < 0) {
    return call.Fail(GE_INVALID_ARGUMENT, "axis %lld is outside rank %d",
                     static_cast<long long>(named), x.rank);
  }
  if (x.count == 0) return GE_OK;
  const int64_t dim = x.dims[axis], inner = PartCount(x.shape(), axis + 1, x.rank);
  for (int64_t o = 0; o < x.count / (dim * inner); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t first = o * dim * inner + i + (reverse ? (dim - 1) * inner : 0);
      CumulateRow<Op>(x.as<T>() + first, y.as<T>() + first, dim, reverse ? -inner : inner,
                      exclusive);
    }
  }
  return GE_OK;
}

template <class Op>
std::unique_ptr<Prepared> PrepareCumulate(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  if (!IsIndexDType(n.in(1).dtype)) return NoDType(n.in(1), why), nullptr;
  if (n.in(1).count != 1) return why->Say(GE_WHY_SHAPE, "axis is no scalar"), nullptr;
  const bool exclusive = n.Int("exclusive") != 0, reverse = n.Int("reverse") != 0;
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([=](const Call& c) { return RunCumulate<Op, T>(exclusive, reverse, c); });
  };
  const int32_t dtype = n.in(0).dtype;
  if (!VisitFloat(dtype, make) && !VisitWideInt(dtype, make)) NoDType(n.in(0), why);
  return made;
}

}  // namespace ref
