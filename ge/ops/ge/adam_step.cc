#include "ge/ops/families/optimizer_step.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct AdamIn {
  enum : size_t { kWeight, kMean, kSquare, kGradient, kRate, kFirst, kSecond, kWhen };
};

Status InferAdamStep(InferContext& c) {
  return InferOptimizerStep(c, 2, {"rate", "first", "second"});
}

std::vector<ValueId> DecomposeAdamStep(Transaction& t, FunctionId fn, const Node& node) {
  StepParts s(&t, fn, node);
  const double beta1 = s.attr("beta1"), beta2 = s.attr("beta2"), decay = s.attr("weight_decay");
  const bool apart = AttrInt(node, "decoupled") != 0;
  const ValueId weight = s.Less(s.in(AdamIn::kRate), apart ? decay : 0),
                g = s.Decayed(s.in(AdamIn::kGradient), apart ? 0 : decay),
                mean = s.Average(s.in(AdamIn::kMean), beta1, g),
                square = s.Average(s.in(AdamIn::kSquare), beta2, s.Op("Mul", g, g));
  const ValueId deviation =
      s.Op("Add", s.Op("Div", s.Root(square), s.in(AdamIn::kSecond)), s.Number(s.attr("epsilon")));
  const ValueId step = s.Op("Div", s.Op("Div", mean, s.in(AdamIn::kFirst)), deviation);
  return s.Results({s.Op("Sub", weight, s.Op("Mul", step, s.in(AdamIn::kRate))), mean, square},
                   AdamIn::kWhen);
}

OpDef AdamStepRecord() {
  OpDef op = OptimizerStepRecord("AdamStep", {"mean", "square"}, {"rate", "first", "second"});
  op.attrs = {{"beta1", AttrKind::kFloat, true},
              {"beta2", AttrKind::kFloat, true},
              {"epsilon", AttrKind::kFloat, true},
              {"weight_decay", AttrKind::kFloat, 0.0f},
              {"decoupled", AttrKind::kInt, 0}};
  op.infer = InferAdamStep;
  op.work = PerOutput<14>;
  op.decompose = DecomposeAdamStep;
  return op;
}

}  // namespace

// One step of Adam (arXiv 1412.6980), of AdamW (arXiv 1711.05101) with `decoupled`; `first` and
// `second` are what the averages lack of whole ones: 1 - beta1^t, and the root of 1 - beta2^t.
// Where `when` is false everything stays.
GE_OP(adam_step) = AdamStepRecord();

}  // namespace ge
