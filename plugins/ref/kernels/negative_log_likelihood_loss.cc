#include "plugins/ref/kernels/loss.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareNegativeLogLikelihoodLoss(const NodeView& n, Why* why) {
  LossPlan p{};
  if (!PlanLoss(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) {
          const T* x = c.in(0).as<T>();
          return RunLoss<T>(p, c, [&](int64_t b, int64_t k, int64_t i) -> double {
            return Widen(Load(x, (b * p.classes + k) * p.area + i));
          });
        });
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(negative_log_likelihood_loss, "NegativeLogLikelihoodLoss",
              PrepareNegativeLogLikelihoodLoss)
