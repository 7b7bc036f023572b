#include "ge/ops/families/optimizer_step.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct LionIn {
  enum : size_t { kWeight, kMean, kGradient, kRate, kWhen };
};

Status InferLionStep(InferContext& c) { return InferOptimizerStep(c, 1, {"rate"}); }

std::vector<ValueId> DecomposeLionStep(Transaction& t, FunctionId fn, const Node& node) {
  StepParts s(&t, fn, node);
  const ValueId old = s.in(LionIn::kMean), g = s.in(LionIn::kGradient), rate = s.in(LionIn::kRate);
  const ValueId way = s.Sign(s.Average(old, s.attr("beta1"), g)),
                mean = s.Average(old, s.attr("beta2"), g),
                weight = s.Less(rate, s.attr("weight_decay"));
  return s.Results({s.Op("Sub", weight, s.Op("Mul", way, rate)), mean}, LionIn::kWhen);
}

OpDef LionStepRecord() {
  OpDef op = OptimizerStepRecord("LionStep", {"mean"}, {"rate"});
  op.attrs = {{"beta1", AttrKind::kFloat, true},
              {"beta2", AttrKind::kFloat, true},
              {"weight_decay", AttrKind::kFloat, 0.0f}};
  op.infer = InferLionStep;
  op.work = PerOutput<9>;
  op.decompose = DecomposeLionStep;
  return op;
}

}  // namespace

// One step of Lion (arXiv 2302.06675): the weight goes by `rate` against the sign of beta1 * mean +
// (1 - beta1) * gradient, then the mean follows by beta2; the weight decays beside the gradient.
// Where `when` is false everything stays.
GE_OP(lion_step) = LionStepRecord();

}  // namespace ge
