#include "plugins/ref/checks.h"

namespace ref {
namespace {

struct NormPlan {
  int64_t batch, channels, area;
  double epsilon, momentum;
  bool training;
};

void BatchStoreFloat(const Tensor& t, int64_t i, double v) {
  VisitFloat(t.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    t.as<T>()[i] = Narrow<T>(v);
  });
}

// Mean and population variance of one channel.
template <class T>
void BatchStatistics(const NormPlan& p, const T* x, int64_t channel, double* mean, double* var) {
  const double count = static_cast<double>(p.batch) * static_cast<double>(p.area);
  double sum = 0, square = 0;
  for (int64_t b = 0; b < p.batch; ++b) {
    const T* plane = x + (b * p.channels + channel) * p.area;
    for (int64_t i = 0; i < p.area; ++i) sum += Widen(plane[i]);
  }
  *mean = sum / count;
  for (int64_t b = 0; b < p.batch; ++b) {
    const T* plane = x + (b * p.channels + channel) * p.area;
    for (int64_t i = 0; i < p.area; ++i) {
      const double d = Widen(plane[i]) - *mean;
      square += d * d;
    }
  }
  *var = square / count;
}

// y = (x - mean) / sqrt(var + epsilon) * scale + B, per channel, in double.
template <class T>
ge_rc RunNorm(const NormPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  T* y = c.out(0).as<T>();
  for (int64_t ch = 0; ch < p.channels; ++ch) {
    double mean = FloatAt(c.in(3), ch), var = FloatAt(c.in(4), ch);
    if (p.training) {
      double batch_mean = 0, batch_var = 0;
      BatchStatistics(p, x, ch, &batch_mean, &batch_var);
      const double keep = p.momentum, take = 1 - p.momentum;
      if (c.has_out(1)) BatchStoreFloat(c.out(1), ch, mean * keep + batch_mean * take);
      if (c.has_out(2)) BatchStoreFloat(c.out(2), ch, var * keep + batch_var * take);
      mean = batch_mean;
      var = batch_var;
    }
    const double scale = FloatAt(c.in(1), ch) / std::sqrt(var + p.epsilon);
    const double shift = FloatAt(c.in(2), ch);
    for (int64_t b = 0; b < p.batch; ++b) {
      const int64_t at = (b * p.channels + ch) * p.area;
      for (int64_t i = at; i < at + p.area; ++i) {
        y[i] = Narrow<T>((Widen(x[i]) - mean) * scale + shift);
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareNorm(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 5, 5, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  if (x.rank < 1) return why->Say(GE_WHY_SHAPE, "X is a scalar"), nullptr;
  NormPlan p{};
  p.batch = x.dims[0];
  p.channels = x.rank == 1 ? 1 : x.dims[1];
  p.area = PartCount(x.shape(), 2, x.rank);
  p.epsilon = n.Float("epsilon");
  p.momentum = n.Float("momentum");
  p.training = n.Int("training_mode") != 0;
  for (uint32_t i = 1; i < 5; ++i) {
    if (!IsFloatDType(n.in(i).dtype)) return NoDType(n.in(i), why), nullptr;
    if (n.in(i).count != p.channels) {
      return why->Say(GE_WHY_SHAPE, "input %u is not one number a channel", i), nullptr;
    }
  }
  for (uint32_t i = 1; i < n.n_out(); ++i) {
    if (!n.has_out(i)) continue;
    if (i > 2 || !p.training) {
      return why->Say(GE_WHY_ATTRIBUTE, "output %u exists in training mode only", i), nullptr;
    }
    if (!IsFloatDType(n.out(i).dtype)) return NoDType(n.out(i), why), nullptr;
    if (n.out(i).count != p.channels) {
      return why->Say(GE_WHY_SHAPE, "output %u is not one number a channel", i), nullptr;
    }
  }
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunNorm<T>(p, c); });
        made->in_place = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(batch_normalization, "BatchNormalization", PrepareNorm)
