#include "passes/grad/train/optimizer.h"

#include <utility>

namespace ge::grad {
namespace {

Val Squared(Val v) { return v * v; }

// v where anything moves, else what was there.
Val IfMoved(const Update& u, Val v, Val old) { return u.when ? Where(u.when, v, old) : v; }

void Keep(const Update& u, const char* slot, Val v) { u.keep(slot, IfMoved(u, v, u.old(slot))); }

// beta * slot + (1 - beta) * v, which the slot keeps.
Val Average(const Update& u, const char* slot, double beta, Val v) {
  const Val next = u.old(slot) * beta + v * (1 - beta);
  Keep(u, slot, next);
  return next;
}

Val Decayed(const Update& u) { return u.s.weight_decay == 0 ? u.g : u.g + u.p * u.s.weight_decay; }

// What the gradient becomes by its momentum.
Val Heavy(const Update& u, Val g) {
  if (u.s.momentum == 0) return g;
  const Val v = u.old("momentum") * u.s.momentum + g;
  Keep(u, "momentum", v);
  return u.s.nesterov ? g + v * u.s.momentum : v;
}

Val Sgd(const Update& u) {
  if (!u.rows) return u.p - Heavy(u, Decayed(u)) * u.rate;
  const Val step = u.rows->updates * -u.rate;
  return u.p.fn->Node("ge", "AddRows", {u.p, u.rows->indices, step}, {}, 1)[0];
}

Val RmsProp(const Update& u) {
  const Val g = Decayed(u), mean = Average(u, "square", u.s.alpha, Squared(g));
  return u.p - Heavy(u, g / (Sqrt(mean) + u.s.eps)) * u.rate;
}

Val Adagrad(const Update& u) {
  const Val g = Decayed(u), sum = u.old("square") + Squared(g);
  Keep(u, "square", sum);
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

// One operator of ge for the weight and its slots; answers the weight.
Val StepNode(const Update& u, const char* op, const std::vector<const char*>& slots,
             const Attrs& attrs, const std::vector<Val>& scalars) {
  std::vector<Val> in = {u.p};
  for (const char* slot : slots) in.push_back(u.old(slot));
  in.push_back(u.g);
  in.insert(in.end(), scalars.begin(), scalars.end());
  if (u.when) in.push_back(u.when);
  const auto outputs = static_cast<uint32_t>(1 + slots.size());
  const std::vector<Val> made = u.p.fn->Node("ge", op, in, attrs, outputs);
  for (size_t i = 0; i < slots.size(); ++i) u.keep(slots[i], made[i + 1]);
  return made[0];
}

Val AdamStep(const Update& u, bool decoupled) {
  const Attrs attrs = Attrs()
                          .Float("beta1", u.s.beta1)
                          .Float("beta2", u.s.beta2)
                          .Float("epsilon", u.s.eps)
                          .Float("weight_decay", u.s.weight_decay)
                          .Int("decoupled", decoupled ? 1 : 0);
  return StepNode(u, "AdamStep", {"mean", "square"}, attrs,
                  {u.rate, AsParameter(u, Correction(u, u.s.beta1)),
                   AsParameter(u, Sqrt(Correction(u, u.s.beta2)))});
}
Val WholeAdam(const Update& u) { return AdamStep(u, false); }
Val WholeAdamW(const Update& u) { return AdamStep(u, true); }

Val WholeSgd(const Update& u) {
  const Attrs attrs = Attrs()
                          .Float("momentum", u.s.momentum)
                          .Float("weight_decay", u.s.weight_decay)
                          .Int("nesterov", u.s.nesterov ? 1 : 0);
  return StepNode(u, "MomentumStep", {"momentum"}, attrs, {u.rate});
}

Val WholeRmsProp(const Update& u) {
  const Attrs attrs = Attrs()
                          .Float("alpha", u.s.alpha)
                          .Float("epsilon", u.s.eps)
                          .Float("weight_decay", u.s.weight_decay);
  return StepNode(u, "RmsPropStep", {"square"}, attrs, {u.rate});
}

Val WholeAdagrad(const Update& u) {
  const Attrs attrs = Attrs().Float("epsilon", u.s.eps).Float("weight_decay", u.s.weight_decay);
  return StepNode(u, "AdagradStep", {"square"}, attrs, {u.rate});
}

Val WholeLion(const Update& u) {
  const Attrs attrs = Attrs()
                          .Float("beta1", u.s.beta1)
                          .Float("beta2", u.s.beta2)
                          .Float("weight_decay", u.s.weight_decay);
  return StepNode(u, "LionStep", {"mean"}, attrs, {u.rate});
}

Val WholeLars(const Update& u) {
  const Attrs attrs = Attrs()
                          .Float("momentum", u.s.momentum)
                          .Float("trust", u.s.trust)
                          .Float("epsilon", u.s.eps)
                          .Float("weight_decay", u.s.weight_decay)
                          .Int("nesterov", u.s.nesterov ? 1 : 0);
  return StepNode(u, "LarsStep", {"momentum"}, attrs, {u.rate});
}

Val WholeLamb(const Update& u) {
  const Attrs attrs = Attrs()
                          .Float("beta1", u.s.beta1)
                          .Float("beta2", u.s.beta2)
                          .Float("epsilon", u.s.eps)
                          .Float("weight_decay", u.s.weight_decay);
  return StepNode(u, "LambStep", {"mean", "square"}, attrs,
                  {u.rate, AsParameter(u, Correction(u, u.s.beta1)),
                   AsParameter(u, Sqrt(Correction(u, u.s.beta2)))});
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
  Keep(u, "mean", m * u.s.beta2 + u.g * (1 - u.s.beta2));
  const Val p = u.s.weight_decay == 0 ? u.p : u.p * (1 - u.rate * u.s.weight_decay);
  return p - to * u.rate;
}

struct Optimizer {
  const char* name;
  Val (*apply)(const Update&);
  OptimizerDefaults defaults;
  Val (*whole)(const Update&) = nullptr;  // by an operator, for float32 and float64
};
constexpr Optimizer kOptimizers[] = {{"sgd", Sgd, {}, WholeSgd},
                                     {"rmsprop", RmsProp, {}, WholeRmsProp},
                                     {"adagrad", Adagrad, {0.999, 1e-10}, WholeAdagrad},
                                     {"adam", Adam, {}, WholeAdam},
                                     {"adamw", AdamW, {}, WholeAdamW},
                                     {"lamb", Lamb, {0.999, 1e-6}, WholeLamb},
                                     {"lars", Lars, {}, WholeLars},
                                     {"lion", Lion, {0.99, 1e-8}, WholeLion}};

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

bool MovesByRows(const TrainSettings& settings) {
  const bool plain =
      settings.optimizer == "sgd" && settings.momentum == 0 && settings.weight_decay == 0;
  return plain && settings.clip == 0 && settings.accumulate == 1 && settings.scale == 0;
}

Val Apply(const Update& update) {
  const Optimizer& o = Named(update.s.optimizer);
  const int32_t dtype = update.p.fn->TypeOf(update.p).dtype;
  // Without a momentum sgd and lars have no slot; with one rmsprop has another.
  const bool heavy = update.s.momentum != 0;
  const bool slots = o.apply == Sgd || o.apply == Lars ? heavy : o.apply != RmsProp || !heavy;
  if (o.whole != nullptr && slots && (dtype == GE_F32 || dtype == GE_F64)) return o.whole(update);
  return IfMoved(update, o.apply(update), update.p);
}

}  // namespace ge::grad
