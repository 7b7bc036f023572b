#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

struct LrnPlan {
  int64_t batch, channels, area;
  int64_t before, after;  // neighbours of a channel
  double alpha, beta, bias;
};

template <class T>
ge_rc RunLrn(const LrnPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  T* y = c.out(0).as<T>();
  for (int64_t b = 0; b < p.batch; ++b) {
    const int64_t image = b * p.channels * p.area;
    for (int64_t ch = 0; ch < p.channels; ++ch) {
      const int64_t first = std::max<int64_t>(0, ch - p.before);
      const int64_t last = ch + std::min(p.after, p.channels - 1 - ch);
      for (int64_t i = 0; i < p.area; ++i) {
        double sum = 0;
        for (int64_t k = first; k <= last; ++k) {
          const double v = Widen(x[image + k * p.area + i]);
          sum += v * v;
        }
        Spend(last - first);
        const int64_t at = image + ch * p.area + i;
        y[at] = Narrow<T>(Widen(x[at]) / std::pow(p.bias + p.alpha * sum, p.beta));
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareLrn(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  const int64_t size = n.Int("size");
  if (x.rank < 2) return why->Say(GE_WHY_SHAPE, "rank 2 or more is wanted"), nullptr;
  if (size < 1) return why->Say(GE_WHY_ATTRIBUTE, "size is not positive"), nullptr;
  LrnPlan p{};
  p.batch = x.dims[0];
  p.channels = x.dims[1];
  p.area = PartCount(x.shape(), 2, x.rank);
  p.before = (size - 1) / 2;
  p.after = size - 1 - p.before;
  p.alpha = n.Float("alpha") / static_cast<double>(size);
  p.beta = n.Float("beta");
  p.bias = n.Float("bias");
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunLrn<T>(p, c); });
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(lrn, "LRN", PrepareLrn)
