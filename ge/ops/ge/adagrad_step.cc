#include "ge/ops/families/optimizer_step.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct AdagradIn {
  enum : size_t { kWeight, kSquare, kGradient, kRate, kWhen };
};

Status InferAdagradStep(InferContext& c) { return InferOptimizerStep(c, 1, {"rate"}); }

std::vector<ValueId> DecomposeAdagradStep(Transaction& t, FunctionId fn, const Node& node) {
  StepParts s(&t, fn, node);
  const ValueId g = s.Decayed(s.in(AdagradIn::kGradient), s.attr("weight_decay")),
                square = s.Op("Add", s.in(AdagradIn::kSquare), s.Op("Mul", g, g)),
                below = s.Op("Add", s.Root(square), s.Number(s.attr("epsilon")));
  const ValueId step = s.Op("Mul", s.Op("Div", g, below), s.in(AdagradIn::kRate));
  return s.Results({s.Op("Sub", s.in(AdagradIn::kWeight), step), square}, AdagradIn::kWhen);
}

OpDef AdagradStepRecord() {
  OpDef op = OptimizerStepRecord("AdagradStep", {"square"}, {"rate"});
  op.attrs = {{"epsilon", AttrKind::kFloat, true}, {"weight_decay", AttrKind::kFloat, 0.0f}};
  op.infer = InferAdagradStep;
  op.work = PerOutput<9>;
  op.decompose = DecomposeAdagradStep;
  return op;
}

}  // namespace

// One step of Adagrad (J. Duchi et al., JMLR 12, 2011): square += gradient^2, weight -= rate *
// gradient / (sqrt(square) + epsilon). Where `when` is false everything stays.
GE_OP(adagrad_step) = AdagradStepRecord();

}  // namespace ge
