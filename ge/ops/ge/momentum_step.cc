#include "ge/ops/families/optimizer_step.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct MomentumIn {
  enum : size_t { kWeight, kVelocity, kGradient, kRate, kWhen };
};

Status InferMomentumStep(InferContext& c) { return InferOptimizerStep(c, 1, {"rate"}); }

std::vector<ValueId> DecomposeMomentumStep(Transaction& t, FunctionId fn, const Node& node) {
  StepParts s(&t, fn, node);
  const double momentum = s.attr("momentum"), decay = s.attr("weight_decay");
  const ValueId g = s.Decayed(s.in(MomentumIn::kGradient), decay);
  const ValueId v = s.Op("Add", s.Times(s.in(MomentumIn::kVelocity), momentum), g);
  const bool ahead = AttrInt(node, "nesterov") != 0;
  const ValueId step = ahead ? s.Op("Add", g, s.Times(v, momentum)) : v;
  return s.Results(
      {s.Op("Sub", s.in(MomentumIn::kWeight), s.Op("Mul", step, s.in(MomentumIn::kRate))), v},
      MomentumIn::kWhen);
}

OpDef MomentumStepRecord() {
  OpDef op = OptimizerStepRecord("MomentumStep", {"velocity"}, {"rate"});
  op.attrs = {{"momentum", AttrKind::kFloat, true},
              {"weight_decay", AttrKind::kFloat, 0.0f},
              {"nesterov", AttrKind::kInt, 0}};
  op.infer = InferMomentumStep;
  op.work = PerOutput<6>;
  op.decompose = DecomposeMomentumStep;
  return op;
}

}  // namespace

// One step down the gradient with a momentum: velocity = momentum * velocity + gradient, weight -=
// rate * velocity; with `nesterov` the velocity of one step ahead. Where `when` is false everything
// stays.
GE_OP(momentum_step) = MomentumStepRecord();

}  // namespace ge
