// Losses over class labels: scores [N, C, ...], labels [N, ...] of i32 or i64, weights [C] or none.
// An ignored label has no effect; any other label outside the classes is refused at run time.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

struct LossPlan {
  enum class How : uint8_t { kMean, kSum, kNone } how;
  int64_t batch, classes, area;
  bool weighted, ignores;
  int64_t ignored;
};

inline bool PlanLoss(const NodeView& n, LossPlan* plan, Why* why) {
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDType(n.in(0), n.out(0), why)) return false;
  const TensorType x = n.in(0), t = n.in(1);
  if (!IsIndexDType(t.dtype)) return NoDType(t, why);
  bool fits = x.rank >= 2 && t.rank == x.rank - 1 && t.dims[0] == x.dims[0];
  for (int d = 2; fits && d < x.rank; ++d) fits = t.dims[d - 1] == x.dims[d];
  if (!fits) return why->Say(GE_WHY_SHAPE, "scores [N, C, ...] and labels [N, ...] are wanted");
  const std::string_view how = n.Text("reduction");
  plan->how = how == "none"  ? LossPlan::How::kNone
              : how == "sum" ? LossPlan::How::kSum
                             : LossPlan::How::kMean;
  if (plan->how == LossPlan::How::kMean && how != "mean") {
    return why->Say(GE_WHY_ATTRIBUTE, "reduction is not known");
  }
  const Ints want = plan->how == LossPlan::How::kNone ? t.shape() : Ints();
  if (!NeedOutDims(n, want, why)) return false;
  plan->batch = x.dims[0];
  plan->classes = x.dims[1];
  plan->area = PartCount(x.shape(), 2, x.rank);
  plan->weighted = n.n_in() > 2 && n.has_in(2);
  if (plan->weighted) {
    if (!NeedSameDType(x, n.in(2), why)) return false;
    if (n.in(2).count != plan->classes) {
      return why->Say(GE_WHY_SHAPE, "the weights are not one number a class");
    }
  }
  plan->ignores = n.Has("ignore_index");
  plan->ignored = n.Int("ignore_index");
  return true;
}

// Asks log_prob(instance, class, position in the area) once for each label that is not ignored.
template <class T, class F>
ge_rc RunLoss(const LossPlan& plan, const Call& call, F&& log_prob) {
  const Tensor labels = call.in(1);
  const T* weights = plan.weighted ? call.in(2).as<T>() : nullptr;
  T* y = call.out(0).as<T>();
  double sum = 0, share = 0;
  for (int64_t i = 0; i < labels.count; ++i) {
    const int64_t label = IntAt(labels, i);
    double loss = 0;
    if (!plan.ignores || label != plan.ignored) {
      if (label < 0 || label >= plan.classes) {
        return call.Fail(GE_INVALID_ARGUMENT, "label %lld at %lld, wanted 0 to %lld",
                         static_cast<long long>(label), static_cast<long long>(i),
                         static_cast<long long>(plan.classes - 1));
      }
      const double weight = weights ? Widen(Load(weights, label)) : 1.0;
      loss = -log_prob(i / plan.area, label, i % plan.area) * weight;
      sum += loss;
      share += weight;
    }
    if (plan.how == LossPlan::How::kNone) y[i] = Narrow<T>(loss);
  }
  if (plan.how == LossPlan::How::kSum) y[0] = Narrow<T>(sum);
  if (plan.how == LossPlan::How::kMean) y[0] = Narrow<T>(sum / share);
  return GE_OK;
}

}  // namespace ref
