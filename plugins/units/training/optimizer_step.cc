#include "plugins/units/training/optimizer_step.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

StepRule RuleOf(std::string_view op) {
  if (op == "AdamStep") return StepRule::kAdam;
  if (op == "RmsPropStep") return StepRule::kRmsProp;
  if (op == "AdagradStep") return StepRule::kAdagrad;
  if (op == "LionStep") return StepRule::kLion;
  if (op == "LarsStep") return StepRule::kLars;
  return op == "LambStep" ? StepRule::kLamb : StepRule::kMomentum;
}

bool ParseStep(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  StepSpec spec;
  spec.rule = RuleOf(gp::View(n.op));
  const uint32_t made = 1 + static_cast<uint32_t>(spec.slots());
  const auto scalars = static_cast<uint32_t>(spec.scalars());
  for (uint32_t k = 0; k < made; ++k) {
    if (k >= n.n_out || n.out[k] == 0) return why->Say(GE_WHY_SHAPE, "an omitted output");
  }
  for (uint32_t k = 0; k < made + 1 + scalars; ++k) {
    if (!g.IsReal(g.dtype(n.in[k]))) return why->Say(GE_WHY_DTYPE, "only float32");
  }
  spec.when = n.n_in > made + 1 + scalars && n.in[made + 1 + scalars] != 0;
  const bool heavy = spec.rule == StepRule::kMomentum || spec.rule == StepRule::kLars;
  spec.beta1 = gp::AttrFloat(n, heavy ? "momentum" : "beta1");
  spec.beta2 = gp::AttrFloat(n, spec.rule == StepRule::kRmsProp ? "alpha" : "beta2");
  spec.trust = gp::AttrFloat(n, "trust");
  spec.eps = gp::AttrFloat(n, "epsilon");
  spec.decay = gp::AttrFloat(n, "weight_decay");
  spec.apart = gp::AttrInt(n, "decoupled") != 0;
  spec.ahead = gp::AttrInt(n, "nesterov") != 0;
  u->in.assign(n.in, n.in + made + 1 + scalars + (spec.when ? 1 : 0));
  u->out.assign(n.out, n.out + made);
  u->spec = spec;
  return true;
}

constexpr Operator kOptimizerStepOperators[] = {
    {"ge.AdamStep", ParseStep, Types::kAny, 0},    {"ge.MomentumStep", ParseStep, Types::kAny, 0},
    {"ge.RmsPropStep", ParseStep, Types::kAny, 0}, {"ge.AdagradStep", ParseStep, Types::kAny, 0},
    {"ge.LionStep", ParseStep, Types::kAny, 0},    {"ge.LarsStep", ParseStep, Types::kAny, 0},
    {"ge.LambStep", ParseStep, Types::kAny, 0},
};
}  // namespace

const UnitKind StepSpec::kKind = {
    .name = "optimizer_step", .operators = kOptimizerStepOperators, .in_place = InPlace::kOutputs};

}  // namespace ge_engines
