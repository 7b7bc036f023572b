#include "ge/ops/families/training.h"

namespace ge {
namespace {

// kept * factor + fresh * (1 - factor)
ValueId Blend(OptimizerParts& p, ValueId kept, ValueId fresh, double factor) {
  return p.Do("Add", p.Do("Mul", kept, p.Number(factor)), p.Do("Mul", fresh, p.Number(1 - factor)));
}

// 1 - factor^T
ValueId Unbias(OptimizerParts& p, double factor) {
  return p.DoScalar("Sub", p.Number(1), p.DoScalar("Pow", p.Number(factor), p.Step()));
}

std::vector<ValueId> DecomposeAdam(Transaction& t, FunctionId fn, const Node& node) {
  OptimizerParts p(&t, fn, node, 2);
  const double alpha = p.Attr("alpha"), beta = p.Attr("beta");
  const double after = 1 - p.Attr("norm_coefficient_post");
  const size_t n = p.n();
  std::vector<ValueId> out(3 * n);
  for (size_t i = 0; i < n; ++i) {
    const ValueId g = p.Gradient(i);
    const ValueId mean = Blend(p, p.In(2, i), g, alpha);
    const ValueId squares = Blend(p, p.In(3, i), p.Do("Mul", g, g), beta);
    const ValueId divisor = p.Do("Add", p.Root(squares), p.Number(p.Attr("epsilon")));
    const ValueId unbiased = p.DoScalar("Div", p.RootScalar(Unbias(p, beta)), Unbias(p, alpha));
    const ValueId rate = p.ByStep(p.DoScalar("Mul", p.Rate(), unbiased), p.Rate());
    const ValueId way = p.Do("Div", p.Do("Mul", mean, rate), divisor);
    const ValueId x = p.Do("Sub", p.In(0, i), way);
    out[i] = p.Do("Mul", x, p.Number(after));
    out[n + i] = mean;
    out[2 * n + i] = squares;
  }
  return out;
}

OpDef AdamRecord() {
  OpDef op = OptimizerRecord("Adam", {{"alpha", AttrKind::kFloat, 0.9f},
                                      {"beta", AttrKind::kFloat, 0.999f},
                                      {"epsilon", AttrKind::kFloat, 1e-6f},
                                      {"norm_coefficient", AttrKind::kFloat, 0.0f},
                                      {"norm_coefficient_post", AttrKind::kFloat, 0.0f}});
  op.infer = [](InferContext& c) { return InferOptimizer(c, 2); };
  op.decompose = DecomposeAdam;
  return op;
}

}  // namespace

// A step of Adam.
GE_OP(onnx_training_adam) = AdamRecord();

}  // namespace ge
