#include "plugins/ref/checks.h"

namespace ref {
namespace {

struct MomentPlan {
  int64_t images, channels, area;
};

// In double, in two passes.
template <class T>
ge_rc RunChannelMoments(const MomentPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  T *mean = c.out(0).as<T>(), *variance = c.out(1).as<T>();
  const auto n = static_cast<double>(p.images * p.area);
  for (int64_t ch = 0; ch < p.channels; ++ch) {
    const auto sum = [&](auto f) {
      double all = 0;
      for (int64_t i = 0; i < p.images; ++i) {
        const T* row = x + (i * p.channels + ch) * p.area;
        for (int64_t k = 0; k < p.area; ++k) all += f(Widen(row[k]));
      }
      return all / n;
    };
    const double centre = sum([](double v) { return v; });
    mean[ch] = Narrow<T>(centre);
    variance[ch] = Narrow<T>(sum([&](double v) { return (v - centre) * (v - centre); }));
  }
  return GE_OK;
}

// x [N, C, ...] -> two of [C].
std::unique_ptr<Prepared> PrepareChannelMoments(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  if (!n.has_out(1)) return why->Say(GE_WHY_OP, "output 1 is omitted"), nullptr;
  if (!NeedSameDType(n.in(0), n.out(0), why) || !NeedSameDType(n.in(0), n.out(1), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  if (x.rank < 2) return why->Say(GE_WHY_SHAPE, "rank 2 or more is wanted"), nullptr;
  if (n.out(0).count != x.dims[1] || n.out(1).count != x.dims[1]) {
    return why->Say(GE_WHY_SHAPE, "an output is not one number a channel"), nullptr;
  }
  const MomentPlan p = {x.dims[0], x.dims[1], PartCount(x.shape(), 2, x.rank)};
  if (x.dtype == GE_F32) return Make([p](const Call& c) { return RunChannelMoments<float>(p, c); });
  if (x.dtype == GE_F64) {
    return Make([p](const Call& c) { return RunChannelMoments<double>(p, c); });
  }
  return NoDType(x, why), nullptr;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(channel_moments, "ge.ChannelMoments", PrepareChannelMoments)
