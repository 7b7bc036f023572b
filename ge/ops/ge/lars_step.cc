#include "ge/ops/families/optimizer_step.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct LarsIn {
  enum : size_t { kWeight, kVelocity, kGradient, kRate, kWhen };
};

Status InferLarsStep(InferContext& c) { return InferOptimizerStep(c, 1, {"rate"}); }

std::vector<ValueId> DecomposeLarsStep(Transaction& t, FunctionId fn, const Node& node) {
  StepParts s(&t, fn, node);
  const double momentum = s.attr("momentum"), decay = s.attr("weight_decay");
  const ValueId length = s.Norm(s.in(LarsIn::kWeight));
  ValueId against = s.Norm(s.in(LarsIn::kGradient));
  against = s.OfScalars("Add", against, s.OfScalars("Mul", length, s.Number(decay)));
  against = s.OfScalars("Add", against, s.Number(s.attr("epsilon")));
  const ValueId ratio = s.Ratio(s.OfScalars("Mul", length, s.Number(s.attr("trust"))), against);
  const ValueId g = s.Op("Mul", s.Decayed(s.in(LarsIn::kGradient), decay), ratio),
                v = s.Op("Add", s.Times(s.in(LarsIn::kVelocity), momentum), g);
  const bool ahead = AttrInt(node, "nesterov") != 0;
  const ValueId step = ahead ? s.Op("Add", g, s.Times(v, momentum)) : v;
  return s.Results({s.Op("Sub", s.in(LarsIn::kWeight), s.Op("Mul", step, s.in(LarsIn::kRate))), v},
                   LarsIn::kWhen);
}

OpDef LarsStepRecord() {
  OpDef op = OptimizerStepRecord("LarsStep", {"velocity"}, {"rate"});
  op.attrs = {{"momentum", AttrKind::kFloat, true},
              {"trust", AttrKind::kFloat, true},
              {"epsilon", AttrKind::kFloat, true},
              {"weight_decay", AttrKind::kFloat, 0.0f},
              {"nesterov", AttrKind::kInt, 0}};
  op.infer = InferLarsStep;
  op.work = PerOutput<10>;
  op.decompose = DecomposeLarsStep;
  return op;
}

}  // namespace

// One step of LARS (arXiv 1708.03888): that of ge.MomentumStep, with the gradient and its decay
// times trust * |weight| / (|gradient| + weight_decay * |weight| + epsilon), or times 1 where a
// part of that is zero. Where `when` is false everything stays.
GE_OP(lars_step) = LarsStepRecord();

}  // namespace ge
