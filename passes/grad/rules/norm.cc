// Normalizations. What is normalised over some axes is u = (x - mean) / deviation, and a cotangent
// g of it comes back as (g - mean(g) - u mean(g u)) / deviation; without the mean of x for RMS.
// They are calculated in f32 at least.
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

struct Unit {
  Val value, inverse;
  std::vector<int64_t> axes;
  bool centred;
};

Unit Normalise(Val x, std::vector<int64_t> axes, double epsilon, bool centred) {
  if (centred) x = x - MeanOver(x, axes);
  const Val inverse = 1 / Sqrt(MeanOver(x * x, axes) + epsilon);
  return {x * inverse, inverse, std::move(axes), centred};
}

Val UnitBack(const Unit& u, Val g) {
  const Val pull = u.value * MeanOver(g * u.value, u.axes);
  return (u.centred ? g - MeanOver(g, u.axes) - pull : g - pull) * u.inverse;
}

Val InStep(Back& b, Val v) { return b.type(v).dtype == GE_F64 ? v : b.fn().Cast(v, GE_F32); }

// scale and bias broadcast over the last axes.
void RowsBack(Back& b, bool centred) {
  const int64_t axis = b.Axis(b.Int("axis", -1), b.x(0)), rank = b.rank(b.x(0));
  if (axis < 0) return;
  const Unit u =
      Normalise(InStep(b, b.x(0)), AxesFrom(axis, rank), b.Float("epsilon", 1e-5), centred);
  Val back;
  if (b.ct(0)) {
    const Val ct = InStep(b, b.ct(0));
    if (b.wants(0)) back = UnitBack(u, ct * InStep(b, b.x(1)));
    if (b.wants(1)) b.Give(1, ct * u.value);
    b.Give(2, ct);
  }
  // Of the mean, and of 1 / deviation, which may be of less precision.
  const int32_t step = b.type(u.value).dtype;
  Val aside = b.fn().Cast(b.ct(1), step);
  if (b.ct(2)) {
    const Val bent = -(b.fn().Cast(b.ct(2), step) * u.inverse * u.inverse * u.value);
    aside = aside ? aside + bent : bent;
  }
  if (aside) {
    const Val n = b.fn().Cast(CountOf(b.x(0), u.axes), b.type(aside).dtype);
    back = b.fn().Sum({back, b.fn().ExpandTo(aside / n, u.value)});
  }
  b.Give(0, back);
}

void LayerNormalizationBack(Back& b) { RowsBack(b, true); }
void RMSNormalizationBack(Back& b) { RowsBack(b, false); }

// scale and bias are by channel, axis 1.
void ChannelsBack(Back& b, const Unit& u, Val ct) {
  const Val x = b.x(0);
  std::vector<int64_t> others = AxesFrom(1, b.rank(x));
  if (others.empty()) others.push_back(0);
  others[0] = 0;
  if (b.wants(1)) b.Give(1, ReduceSum(ct * ReshapeLike(u.value, x), others, false));
  if (b.wants(2)) b.Give(2, ReduceSum(ct, others, false));
  if (!b.wants(0)) return;
  const Val scaled = ct * AlongAxis(InStep(b, b.x(1)), 1, x);
  b.Give(0, ReshapeLike(UnitBack(u, ReshapeLike(scaled, u.value)), x));
}

void InstanceNormalizationBack(Back& b) {
  if (b.rank(b.x(0)) < 0) return b.Fail("an input's rank is not known");
  const Unit u =
      Normalise(InStep(b, b.x(0)), AxesFrom(2, b.rank(b.x(0))), b.Float("epsilon", 1e-5), true);
  ChannelsBack(b, u, InStep(b, b.ct()));
}

void GroupNormalizationBack(Back& b) {
  const Val x = b.x(0);
  const int64_t groups = b.Int("num_groups", 1);
  if (b.rank(x) < 2) return b.Fail("an input's rank is not known");
  const Type t = b.type(x);
  std::vector<Val> sizes = {SizeOf(x, 0), b.fn().Ints({groups})};
  sizes.push_back(t.dims[1].value >= 0 ? b.fn().Ints({t.dims[1].value / groups})
                                       : SizeOf(x, 1) / static_cast<double>(groups));
  for (int64_t i = 2; i < t.rank; ++i) sizes.push_back(SizeOf(x, i));
  const Unit u = Normalise(ReshapeTo(InStep(b, x), sizes), AxesFrom(2, t.rank + 1),
                           b.Float("epsilon", 1e-5), true);
  ChannelsBack(b, u, InStep(b, b.ct()));
}

// What comes back from the mean and the variance of each channel.
Val MomentsBack(Val ct_mean, Val ct_variance, Val x, Val mean) {
  if (!ct_mean && !ct_variance) return {};
  Fn& fn = *x.fn;
  std::vector<int64_t> others = AxesFrom(1, fn.TypeOf(x).rank);
  others[0] = 0;
  const Val n = fn.Cast(CountOf(x, others), fn.TypeOf(x).dtype);
  Val back;
  if (ct_mean) back = fn.ExpandTo(AlongAxis(ct_mean / n, 1, x), x);
  if (!ct_variance) return back;
  const Val bent = (x - AlongAxis(mean, 1, x)) * AlongAxis(ct_variance * 2 / n, 1, x);
  return fn.Sum({back, bent});
}

// In training over all but the channels; what is kept of the running statistics has no gradient.
void BatchNormalizationBack(Back& b) {
  const Val x = b.x(0), ct = b.ct(0);
  if (b.rank(x) < 0) return b.Fail("an input's rank is not known");
  if (!ct) return;
  const double epsilon = b.Float("epsilon", 1e-5);
  std::vector<int64_t> others = AxesFrom(1, b.rank(x));
  if (others.empty()) others.push_back(0);
  others[0] = 0;
  if (b.Int("training_mode") != 0) {
    return ChannelsBack(b, Normalise(InStep(b, x), others, epsilon, true), InStep(b, ct));
  }
  const Val inverse = 1 / Sqrt(InStep(b, b.x(4)) + epsilon), scale = InStep(b, b.x(1));
  const Val g = InStep(b, ct), sum = ReduceSum(g, others, false);
  if (b.wants(0)) b.Give(0, g * AlongAxis(scale * inverse, 1, x));
  b.Give(2, sum);
  if (b.wants(3)) b.Give(3, -(scale * inverse * sum));
  if (!b.wants(1) && !b.wants(4)) return;
  const Val off = InStep(b, x) - AlongAxis(InStep(b, b.x(3)), 1, x);
  const Val product = ReduceSum(g * off, others, false) * inverse;
  b.Give(1, product);
  if (b.wants(4)) b.Give(4, product * scale * inverse * inverse * -0.5);
}

// In training as an operator of its own, which hands on the moments that the way back needs.
std::vector<Val> BatchNormalizationParts(Back& b) {
  Fn& fn = b.fn();
  const int32_t dtype = b.type(b.x()).dtype;
  if (b.Int("training_mode") == 0 || b.rank(b.x()) < 2 || (dtype != GE_F32 && dtype != GE_F64)) {
    return {};
  }
  const std::vector<Val> made = fn.Node("ge", "BatchNormalizationTraining",
                                        {b.x(0), fn.Cast(b.x(1), dtype), fn.Cast(b.x(2), dtype)},
                                        Attrs().Float("epsilon", b.Float("epsilon", 1e-5)), 3);
  const double keep = b.Float("momentum", 0.9);
  std::vector<Val> out = {made[0]};
  for (uint32_t i = 1; i < b.outputs(); ++i) {
    const Val old = b.x(2 + i);
    out.push_back(b.y(i) ? old * keep + fn.Cast(made[i], b.type(old).dtype) * (1 - keep) : Val{});
  }
  return out;
}

void BatchNormalizationTrainingBack(Back& b) {
  Fn& fn = b.fn();
  const Val x = b.x(0);
  if (b.rank(x) < 2) return b.Fail("an input's rank is not known");
  Val mean = b.y(1), variance = b.y(2);
  if (!mean || !variance) {
    const std::vector<Val> moments = fn.Node("ge", "ChannelMoments", {x}, {}, 2);
    mean = moments[0];
    variance = moments[1];
  }
  Val back;
  if (b.ct(0)) {
    const std::vector<Val> grads =
        fn.Node("ge", "BatchNormalizationGrad", {b.ct(0), x, b.x(1), mean, variance},
                Attrs().Float("epsilon", b.Float("epsilon", 1e-5)), 3);
    back = grads[0];
    b.Give(1, grads[1]);
    b.Give(2, grads[2]);
  }
  b.Give(0, fn.Sum({back, MomentsBack(b.ct(1), b.ct(2), x, mean)}));
}

void ChannelMomentsBack(Back& b) {
  if (b.rank(b.x()) < 2) return b.Fail("an input's rank is not known");
  b.Give(0, MomentsBack(b.ct(0), b.ct(1), b.x(), b.y(0)));
}

// x / |x|, 0 where |x| is.
void LpNormalizationBack(Back& b) {
  const bool one = b.Int("p", 2) == 1;
  const Val x = b.x();
  const int64_t axis = b.Int("axis", -1);
  const Val norm = b.fn().Op(one ? "ReduceL1" : "ReduceL2", {x, b.fn().Ints({axis})},
                             Attrs().Int("keepdims", 1));
  const Val none = Compare("Equal", norm, 0);
  const Val safe = Where(none, b.fn().Scalar(b.type(x).dtype, 1), norm);
  const Val slope = one ? Sign(x) : x / safe;
  const Val pull = slope * (ReduceSum(b.ct() * x, {axis}, true) / (safe * safe));
  b.Give(0, Where(none, b.fn().Zeros(b.ct()), b.ct() / safe - pull));
}

// y = x s^-beta, s = bias + alpha / size (sum of squares of neighbouring channels).
void LrnBack(Back& b) {
  const Val x = b.x();
  const auto size = b.Int("size", 1);
  const double rate = b.Float("alpha", 1e-4) / static_cast<double>(size),
               beta = b.Float("beta", 0.75);
  if (b.rank(x) < 2) return b.Fail("an input's rank is not known");
  const Val i = Iota(SizeOf(x, 1));
  const Val away = Unsqueeze(i, {1}) - Unsqueeze(i, {0});
  const auto before = static_cast<double>((size - 1) / 2),
             behind = static_cast<double>(size - 1 - (size - 1) / 2);
  const Val near = Ones(b.fn().Op("And", {Compare("GreaterOrEqual", away, -before),
                                          Compare("LessOrEqual", away, behind)}),
                        b.type(x).dtype);
  const Val s = Along(x * x, near, 1) * rate + b.Float("bias", 1);
  const Val shared = Along(b.ct() * x * Pow(s, -beta - 1), SwapLast(near), 1);
  b.Give(0, b.ct() * Pow(s, -beta) - x * shared * (2 * rate * beta));
}

}  // namespace

GE_GRAD(norm) {
  return {{"", "LayerNormalization", LayerNormalizationBack},
          {"", "RMSNormalization", RMSNormalizationBack},
          {"", "InstanceNormalization", InstanceNormalizationBack},
          {"", "GroupNormalization", GroupNormalizationBack},
          {"", "BatchNormalization", BatchNormalizationBack, {}, BatchNormalizationParts},
          {"ge", "BatchNormalizationTraining", BatchNormalizationTrainingBack},
          {"ge", "ChannelMoments", ChannelMomentsBack},
          {"", "LpNormalization", LpNormalizationBack},
          {"", "LRN", LrnBack}};
}

}  // namespace ge::grad
