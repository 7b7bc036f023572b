// Steps of optimizers: weights and slots become new ones, each thread its own elements.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/channels.h"
#include "plugins/gpu/kernels/rows.h"
#include "plugins/gpu/kernels/team.h"
#include "plugins/units/functions.h"

namespace ge_engines::gpu {

// Places: `made` results (weight, slots), what they were, the gradient, `scalars` numbers, whether
// the step is taken, partial norms. `made` is 2 or 3.
struct StepArgs : Args<12> {
  StepRule rule = StepRule::kMomentum;
  int32_t made = 2, scalars = 1;
  bool apart = false, ahead = false, when = false;
  float beta1 = 0, beta2 = 0, eps = 0, decay = 0, trust = 0;
  float rest1 = 1, rest2 = 1;  // 1 - beta
  int64_t n = 0, parts = 1;

  GE_GPU_BODY int scalar(int k) const { return 2 * made + 1 + k; }
  GE_GPU_BODY int norms() const { return scalar(scalars) + (when ? 1 : 0); }
  GE_GPU_BODY bool taken() const { return !when || in<uint8_t>(scalar(scalars))[0] != 0; }
  GE_GPU_BODY bool adam() const { return rule == StepRule::kAdam || rule == StepRule::kLamb; }
};

// Of element i: what Adam's step is, its slots before they are stored.
struct AdamStep {
  float mean, square, step;
};
GE_GPU_BODY AdamStep AdamOf(const StepArgs& a, int64_t i, float slope) {
  AdamStep s;
  s.mean = a.beta1 * a.Float(a.made + 1, i) + a.rest1 * slope;
  s.square = a.beta2 * a.Float(a.made + 2, i) + a.rest2 * slope * slope;
  const float first = a.Float(a.scalar(1), 0), second = a.Float(a.scalar(2), 0);
  s.step = s.mean / first / (sqrtf(s.square) / second + a.eps);
  return s;
}

// Part `row` of the squares of the weights, and of Adam's steps (Lamb) or the gradient (Lars), to
// the last place.
template <class Team>
GE_GPU_BODY void StepNormsTeam(const StepArgs& a, int64_t row, const Team& team) {
  const int64_t first = a.n * row / a.parts, end = a.n * (row + 1) / a.parts;
  typename Team::template PerLane<double> weights, steps;
  team.Each([&](int lane) {
    LongSum weight, step;
    for (int64_t i = first + lane; i < end; i += kTeamLanes) {
      const float w = a.Float(a.made, i), g = a.Float(2 * a.made, i);
      const float s = a.rule == StepRule::kLamb ? AdamOf(a, i, g).step + a.decay * w : g;
      weight.Put(w * w);
      step.Put(s * s);
    }
    weights[lane] = weight.Close();
    steps[lane] = step.Close();
  });
  const double weight = team.All(weights, Add()), step = team.All(steps, Add());
  team.Each([&](int lane) {
    if (lane != 0) return;
    a.out<double>(a.norms())[2 * row] = weight;
    a.out<double>(a.norms())[2 * row + 1] = step;
  });
}

// What the norms say: Lamb's share of the rate, Lars' gain. It takes the place of the first part.
template <class Team>
GE_GPU_BODY void StepRatioTeam(const StepArgs& a, int64_t, const Team& team) {
  team.Each([&](int lane) {
    if (lane != 0) return;
    double* parts = a.out<double>(a.norms());
    double weight = 0, step = 0;
    for (int64_t k = 0; k < a.parts; ++k) {
      weight += parts[2 * k];
      step += parts[2 * k + 1];
    }
    weight = sqrt(weight);
    step = sqrt(step);
    if (a.rule == StepRule::kLars) {
      step += weight * static_cast<double>(a.decay) + static_cast<double>(a.eps);
      weight *= static_cast<double>(a.trust);
    }
    parts[0] = weight > 0 && step > 0 ? weight / step : 1;
  });
}

GE_GPU_BODY void MomentumStep(const StepArgs& a, int64_t i, float rate, float gain) {
  const float w = a.Float(a.made, i);
  const float slope = (a.Float(2 * a.made, i) + a.decay * w) * gain;
  const float speed = a.beta1 * a.Float(a.made + 1, i) + slope;
  a.Store(1, i, speed);
  a.Store(0, i, w - rate * (a.ahead ? slope + a.beta1 * speed : speed));
}

GE_GPU_BODY void SquareStep(const StepArgs& a, int64_t i, float rate) {
  const bool sums = a.rule == StepRule::kAdagrad;
  const float w = a.Float(a.made, i), slope = a.Float(2 * a.made, i) + a.decay * w;
  const float square =
      (sums ? 1.0f : a.beta2) * a.Float(a.made + 1, i) + (sums ? 1.0f : a.rest2) * slope * slope;
  a.Store(1, i, square);
  a.Store(0, i, w - rate * slope / (sqrtf(square) + a.eps));
}

GE_GPU_BODY void LionStep(const StepArgs& a, int64_t i, float rate) {
  const float w = a.Float(a.made, i), slope = a.Float(2 * a.made, i);
  const float mean = a.Float(a.made + 1, i), way = a.beta1 * mean + a.rest1 * slope;
  const float sign = way > 0 ? 1.0f : way < 0 ? -1.0f : way;  // NaN stays
  a.Store(1, i, a.beta2 * mean + a.rest2 * slope);
  a.Store(0, i, (1 - rate * a.decay) * w - rate * sign);
}

GE_GPU_BODY void AdamStepAt(const StepArgs& a, int64_t i, float rate) {
  const bool beside = a.apart || a.rule == StepRule::kLamb;  // decay beside the gradient
  const float w = a.Float(a.made, i);
  const float slope = a.Float(2 * a.made, i) + (beside ? 0.0f : a.decay * w);
  const AdamStep s = AdamOf(a, i, slope);
  a.Store(1, i, s.mean);
  a.Store(2, i, s.square);
  a.Store(0, i, (beside ? 1 - rate * a.decay : 1.0f) * w - rate * s.step);
}

GE_GPU_BODY void StepThread(const StepArgs& a, int64_t i) {
  if (!a.taken()) {
    for (int k = 0; k < a.made; ++k) a.Store(k, i, a.Float(a.made + k, i));
    return;
  }
  const float rate = a.Float(a.scalar(0), 0);
  const bool normed = a.rule == StepRule::kLars || a.rule == StepRule::kLamb;
  const float ratio = normed ? static_cast<float>(a.in<double>(a.norms())[0]) : 1.0f;
  if (a.adam()) return AdamStepAt(a, i, rate * ratio);
  if (a.rule == StepRule::kLion) return LionStep(a, i, rate);
  if (a.rule == StepRule::kRmsProp || a.rule == StepRule::kAdagrad) return SquareStep(a, i, rate);
  MomentumStep(a, i, rate, ratio);
}

}  // namespace ge_engines::gpu
