#include "ge/ops/families/optimizer_step.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct RmsPropIn {
  enum : size_t { kWeight, kSquare, kGradient, kRate, kWhen };
};

Status InferRmsPropStep(InferContext& c) { return InferOptimizerStep(c, 1, {"rate"}); }

std::vector<ValueId> DecomposeRmsPropStep(Transaction& t, FunctionId fn, const Node& node) {
  StepParts s(&t, fn, node);
  const ValueId g = s.Decayed(s.in(RmsPropIn::kGradient), s.attr("weight_decay")),
                square = s.Average(s.in(RmsPropIn::kSquare), s.attr("alpha"), s.Op("Mul", g, g)),
                below = s.Op("Add", s.Root(square), s.Number(s.attr("epsilon")));
  const ValueId step = s.Op("Mul", s.Op("Div", g, below), s.in(RmsPropIn::kRate));
  return s.Results({s.Op("Sub", s.in(RmsPropIn::kWeight), step), square}, RmsPropIn::kWhen);
}

OpDef RmsPropStepRecord() {
  OpDef op = OptimizerStepRecord("RmsPropStep", {"square"}, {"rate"});
  op.attrs = {{"alpha", AttrKind::kFloat, true},
              {"epsilon", AttrKind::kFloat, true},
              {"weight_decay", AttrKind::kFloat, 0.0f}};
  op.infer = InferRmsPropStep;
  op.work = PerOutput<9>;
  op.decompose = DecomposeRmsPropStep;
  return op;
}

}  // namespace

// One step of RMSProp (G. Hinton, lecture 6e of "Neural Networks for Machine Learning", 2012):
// square = alpha * square + (1 - alpha) * gradient^2, weight -= rate * gradient / (sqrt(square) +
// epsilon). Where `when` is false everything stays.
GE_OP(rms_prop_step) = RmsPropStepRecord();

}  // namespace ge
