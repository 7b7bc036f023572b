// Normalizes X [N, C, ...] over groups of neighbouring channels, with one scale and one bias a
// channel. Shared by InstanceNormalization (as many groups as channels) and GroupNormalization.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

struct GroupPlan {
  int64_t rows, groups, channels, area;  // channels: of one group
  double epsilon;
};

// Statistics in double, in two passes; rounded once on the way out.
template <class T>
ge_rc RunGroupNorm(const GroupPlan& plan, const Call& call) {
  const T* x = call.in(0).as<T>();
  const Tensor scale = call.in(1), bias = call.in(2);
  T* y = call.out(0).as<T>();
  const int64_t count = plan.channels * plan.area;
  for (int64_t r = 0; count > 0 && r < plan.rows; ++r, x += count, y += count) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < count; ++i) sum += Widen(x[i]);
    const double mean = sum / static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i) {
      const double d = Widen(x[i]) - mean;
      square += d * d;
    }
    const double inverse = 1 / std::sqrt(square / static_cast<double>(count) + plan.epsilon);
    for (int64_t ch = 0; ch < plan.channels; ++ch) {
      const int64_t which = r % plan.groups * plan.channels + ch;
      const double by = FloatAt(scale, which), shift = FloatAt(bias, which);
      for (int64_t i = ch * plan.area; i < (ch + 1) * plan.area; ++i) {
        y[i] = Narrow<T>((Widen(x[i]) - mean) * inverse * by + shift);
      }
    }
  }
  return GE_OK;
}

// groups: 0 = as many as channels.
inline std::unique_ptr<Prepared> PrepareGroupNorm(const NodeView& n, int64_t groups, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  if (x.rank < 2) return why->Say(GE_WHY_SHAPE, "rank 2 or more is wanted"), nullptr;
  for (uint32_t i = 1; i < 3; ++i) {
    if (!IsFloatDType(n.in(i).dtype)) return NoDType(n.in(i), why), nullptr;
    if (n.in(i).count != x.dims[1]) {
      return why->Say(GE_WHY_SHAPE, "input %u is not one number a channel", i), nullptr;
    }
  }
  GroupPlan p{};
  p.groups = groups == 0 ? x.dims[1] : groups;
  if (p.groups < 0 || (p.groups > 0 && x.dims[1] % p.groups != 0)) {
    return why->Say(GE_WHY_ATTRIBUTE, "the groups do not divide the channels"), nullptr;
  }
  p.rows = x.count == 0 ? 0 : x.dims[0] * p.groups;
  p.channels = p.groups == 0 ? 0 : x.dims[1] / p.groups;
  p.area = PartCount(x.shape(), 2, x.rank);
  p.epsilon = n.Float("epsilon");
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunGroupNorm<T>(p, c); });
        made->in_place = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace ref
