#include "passes/grad/train/optimizer.h"

#include <utility>

namespace ge::grad {
namespace {

Val Squared(Val v) { return v * v; }

// beta * slot + (1 - beta) * v, which the slot keeps.
Val Average(const Update& u, const char* slot, double beta, Val v) {
  const Val next = u.old(slot) * beta + v * (1 - beta);
  u.keep(slot, next);
  return next;
}

Val Decayed(const Update& u) { return u.s.weight_decay == 0 ? u.g : u.g + u.p * u.s.weight_decay; }

// What the gradient becomes by its momentum.
Val Heavy(const Update& u, Val g) {
  if (u.s.momentum == 0) return g;
  const Val v = u.old("momentum") * u.s.momentum + g;
  u.keep("momentum", v);
  return u.s.nesterov ? g + v * u.s.momentum : v;
}

Val Sgd(const Update& u) { return u.p - Heavy(u, Decayed(u)) * u.rate; }

Val RmsProp(const Update& u) {
  const Val g = Decayed(u), mean = Average(u, "square", u.s.alpha, Squared(g));
  return u.p - Heavy(u, g / (Sqrt(mean) + u.s.eps)) * u.rate;
}

Val Adagrad(const Update& u) {
  const Val g = Decayed(u), sum = u.old("square") + Squared(g);
  u.keep("square", sum);
  return u.p - g / (Sqrt(sum) + u.s.eps) * u.rate;
}

// 1 - beta^updates in float64: what an average over so many updates from zero lacks.
Val Correction(const Update& u, double beta) {
  Fn& fn = *u.p.fn;
  return 1 - fn.Op("Pow", {fn.Scalar(GE_F64, beta), u.updates});
}

Val AsParameter(const Update& u, Val v) { return u.p.fn->Cast(v, u.p.fn->TypeOf(u.p).dtype); }

// The averages with their corrections: eps is added behind that of the second.
Val AdamDirection(const Update& u, Val g) {
  const Val m = Average(u, "mean", u.s.beta1, g), v = Average(u, "square", u.s.beta2, Squared(g));
  const Val first = AsParameter(u, Correction(u, u.s.beta1)),
            second = AsParameter(u, Sqrt(Correction(u, u.s.beta2)));
  return m / first / (Sqrt(v) / second + u.s.eps);
}

Val Adam(const Update& u) { return u.p - AdamDirection(u, Decayed(u)) * u.rate; }

Val AdamW(const Update& u) {
  const Val p = u.s.weight_decay == 0 ? u.p : u.p * (1 - u.rate * u.s.weight_decay);
  return p - AdamDirection(u, u.g) * u.rate;
}

Val Norm(Val v) { return Sqrt(v.fn->Op("ReduceSumSquare", {v}, Attrs().Int("keepdims", 0))); }

// a / b where both are above zero, else 1.
Val Ratio(Val a, Val b) {
  Fn& fn = *a.fn;
  const Val both = fn.Op("And", {Compare("Greater", a, 0), Compare("Greater", b, 0)});
  const Val one = fn.Fill(b, 1);
  return Where(both, a / Where(both, b, one), one);
}

Val Lamb(const Update& u) {
  Val step = AdamDirection(u, u.g);
  if (u.s.weight_decay != 0) step = step + u.p * u.s.weight_decay;
  return u.p - step * (Ratio(Norm(u.p), Norm(step)) * u.rate);
}

// A rate for each parameter: trust * |p| / (|g| + decay * |p| + eps).
Val Lars(const Update& u) {
  const Val length = Norm(u.p);
  const Val against = Norm(u.g) + length * u.s.weight_decay + u.s.eps;
  return u.p - Heavy(u, Decayed(u) * Ratio(length * u.s.trust, against)) * u.rate;
}

Val Lion(const Update& u) {
  const Val m = u.old("mean"), to = Sign(m * u.s.beta1 + u.g * (1 - u.s.beta1));
  u.keep("mean", m * u.s.beta2 + u.g * (1 - u.s.beta2));
  const Val p = u.s.weight_decay == 0 ? u.p : u.p * (1 - u.rate * u.s.weight_decay);
  return p - to * u.rate;
}

struct Optimizer {
  const char* name;
  Val (*apply)(const Update&);
  OptimizerDefaults defaults;
};
constexpr Optimizer kOptimizers[] = {
    {"sgd", Sgd, {}},   {"rmsprop", RmsProp, {}},    {"adagrad", Adagrad, {0.999, 1e-10}},
    {"adam", Adam, {}}, {"adamw", AdamW, {}},        {"lamb", Lamb, {0.999, 1e-6}},
    {"lars", Lars, {}}, {"lion", Lion, {0.99, 1e-8}}};

const Optimizer& Named(const std::string& name) {
  for (const Optimizer& o : kOptimizers) {
    if (name == o.name) return o;
  }
  return kOptimizers[0];  // names were checked before
}

}  // namespace

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const Optimizer& o : kOptimizers) names.emplace_back(o.name);
  return names;
}

OptimizerDefaults DefaultsOf(const std::string& optimizer) {
  for (const Optimizer& o : kOptimizers) {
    if (optimizer == o.name) return o.defaults;
  }
  return {};
}

Val Apply(const Update& u) { return Named(u.s.optimizer).apply(u); }

}  // namespace ge::grad
