// Window functions of signal processing: sums of cosines over one period. Pure; any thread.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

// y[i] = a[0] - a[1] cos(t) + a[2] cos(2t), t = 2 pi i / n. A symmetric window reaches a whole
// period at its last element. A symmetric window of one element is NaN: 0 / 0 of the definition.
struct CosineSum {
  double a[3];
};

template <class T>
ge_rc RunSignalWindow(const CosineSum& sum, bool periodic, const Call& call) {
  const Tensor y = call.out(0);
  const int64_t size = IntAt(call.in(0), 0);
  if (size != y.count) {
    return call.Fail(GE_INVALID_ARGUMENT, "size is %lld, %lld is wanted",
                     static_cast<long long>(size), static_cast<long long>(y.count));
  }
  const double n = static_cast<double>(periodic ? size : size - 1);
  for (int64_t i = 0; i < y.count; ++i) {
    const double t = 2 * M_PI * static_cast<double>(i) / n;
    y.as<T>()[i] = Narrow<T>(sum.a[0] - sum.a[1] * std::cos(t) + sum.a[2] * std::cos(2 * t));
  }
  return GE_OK;
}

inline std::unique_ptr<Prepared> PrepareSignalWindow(const NodeView& n, const CosineSum& sum,
                                                     Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  if (!IsIndexDType(n.in(0).dtype)) return NoDType(n.in(0), why), nullptr;
  if (n.in(0).count != 1 || n.out(0).rank != 1) {
    return why->Say(GE_WHY_SHAPE, "size is no scalar, or the output no vector"), nullptr;
  }
  const bool periodic = n.Int("periodic") != 0;
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(n.out(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made =
            Make([sum, periodic](const Call& c) { return RunSignalWindow<T>(sum, periodic, c); });
        made->const_align = 1;
      })) {
    NoDType(n.out(0), why);
  }
  return made;
}

}  // namespace ref
