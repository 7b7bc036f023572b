#include "ge/ops/families/optimizer_step.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

struct LambIn {
  enum : size_t { kWeight, kMean, kSquare, kGradient, kRate, kFirst, kSecond, kWhen };
};

Status InferLambStep(InferContext& c) {
  return InferOptimizerStep(c, 2, {"rate", "first", "second"});
}

std::vector<ValueId> DecomposeLambStep(Transaction& t, FunctionId fn, const Node& node) {
  StepParts s(&t, fn, node);
  const ValueId g = s.in(LambIn::kGradient),
                mean = s.Average(s.in(LambIn::kMean), s.attr("beta1"), g),
                square = s.Average(s.in(LambIn::kSquare), s.attr("beta2"), s.Op("Mul", g, g));
  const ValueId deviation =
      s.Op("Add", s.Op("Div", s.Root(square), s.in(LambIn::kSecond)), s.Number(s.attr("epsilon")));
  const ValueId step = s.Decayed(s.Op("Div", s.Op("Div", mean, s.in(LambIn::kFirst)), deviation),
                                 s.attr("weight_decay"));
  const ValueId ratio = s.Ratio(s.Norm(s.in(LambIn::kWeight)), s.Norm(step)),
                by = s.OfScalars("Mul", ratio, s.in(LambIn::kRate));
  return s.Results({s.Op("Sub", s.in(LambIn::kWeight), s.Op("Mul", step, by)), mean, square},
                   LambIn::kWhen);
}

OpDef LambStepRecord() {
  OpDef op = OptimizerStepRecord("LambStep", {"mean", "square"}, {"rate", "first", "second"});
  op.attrs = {{"beta1", AttrKind::kFloat, true},
              {"beta2", AttrKind::kFloat, true},
              {"epsilon", AttrKind::kFloat, true},
              {"weight_decay", AttrKind::kFloat, 0.0f}};
  op.infer = InferLambStep;
  op.work = PerOutput<20>;
  op.decompose = DecomposeLambStep;
  return op;
}

}  // namespace

// One step of LAMB (arXiv 1904.00962): Adam's step with weight_decay * weight added, times rate *
// |weight| / |step|, or rate alone where a norm is zero. `first` and `second` as ge.AdamStep's.
// Where `when` is false everything stays.
GE_OP(lamb_step) = LambStepRecord();

}  // namespace ge
