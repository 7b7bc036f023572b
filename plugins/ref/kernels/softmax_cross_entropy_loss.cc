#include <algorithm>

#include "plugins/ref/kernels/loss.h"

namespace ref {
namespace {

// log(sum over the classes of e^x), one stride apart.
template <class T>
double LogSumExpOf(const T* x, int64_t classes, int64_t stride) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t k = 0; k < classes; ++k) {
    most = std::max<double>(most, Widen(Load(x, k * stride)));
  }
  for (int64_t k = 0; k < classes; ++k) sum += std::exp(Widen(Load(x, k * stride)) - most);
  return most + std::log(sum);
}

template <class T>
ge_rc RunCrossEntropy(const LossPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  const auto norm = [&](int64_t b, int64_t i) {
    return LogSumExpOf(x + b * p.classes * p.area + i, p.classes, p.area);
  };
  T* log_prob = c.has_out(1) ? c.out(1).as<T>() : nullptr;
  for (int64_t b = 0; log_prob != nullptr && b < p.batch; ++b) {
    for (int64_t i = 0; i < p.area; ++i) {
      const double less = norm(b, i);
      for (int64_t k = 0; k < p.classes; ++k) {
        const int64_t at = (b * p.classes + k) * p.area + i;
        log_prob[at] = Narrow<T>(Widen(Load(x, at)) - less);
      }
    }
  }
  return RunLoss<T>(p, c, [&](int64_t b, int64_t k, int64_t i) {
    return Widen(Load(x, (b * p.classes + k) * p.area + i)) - norm(b, i);
  });
}

std::unique_ptr<Prepared> PrepareSoftmaxCrossEntropyLoss(const NodeView& n, Why* why) {
  LossPlan p{};
  if (!PlanLoss(n, &p, why)) return nullptr;
  if (n.has_out(1) &&
      (n.out(1).dtype != n.in(0).dtype || !SameDims(n.out(1).shape(), n.in(0).shape()))) {
    return why->Say(GE_WHY_SHAPE, "log_prob is not of the scores' type"), nullptr;
  }
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunCrossEntropy<T>(p, c); });
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(softmax_cross_entropy_loss, "SoftmaxCrossEntropyLoss", PrepareSoftmaxCrossEntropyLoss)
