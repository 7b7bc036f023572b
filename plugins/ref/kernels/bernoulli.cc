#include "plugins/ref/kernels/philox.h"

namespace ref {
namespace {

template <class T>
ge_rc RunBernoulli(PhiloxKey key, const Call& c) {
  const Tensor p = c.in(0);
  T* y = c.out(0).as<T>();
  for (int64_t i = 0; i < p.count; ++i) {
    const double v = FloatAt(p, i);
    if (!(v >= 0 && v <= 1)) {
      return c.Fail(GE_INVALID_ARGUMENT, "input[%lld] is %g, a probability from 0 to 1 is wanted",
                    static_cast<long long>(i), v);
    }
  }
  ForEachDraw(key, p.count, false,
              [&](int64_t i, double v) { y[i] = Narrow<T>(v < FloatAt(p, i) ? 1.0 : 0.0); });
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareBernoulli(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  if (!IsFloatDType(n.in(0).dtype)) return NoDType(n.in(0), why), nullptr;
  const PhiloxKey key = KeyOf(n);
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([key](const Call& c) { return RunBernoulli<T>(key, c); });
    made->const_align = 1;
  };
  if (n.out(0).dtype == GE_BOOL) {
    make(Tag<bool>());
  } else if (!VisitNumber(n.out(0).dtype, make)) {
    NoDType(n.out(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(bernoulli, "Bernoulli", PrepareBernoulli)
