#include "ge/ops/families/training.h"

namespace ge {
namespace {

// The rate falls with the number of steps, and for each element with the squares it has seen.
std::vector<ValueId> DecomposeAdagrad(Transaction& t, FunctionId fn, const Node& node) {
  OptimizerParts p(&t, fn, node, 1);
  std::vector<ValueId> out(2 * p.n());
  for (size_t i = 0; i < p.n(); ++i) {
    const ValueId g = p.Gradient(i);
    const ValueId decay = p.DoScalar("Mul", p.Step(), p.Number(p.Attr("decay_factor")));
    const ValueId rate = p.DoScalar("Div", p.Rate(), p.DoScalar("Add", decay, p.Number(1)));
    const ValueId squares = p.Do("Add", p.In(2, i), p.Do("Mul", g, g));
    const ValueId divisor = p.Do("Add", p.Root(squares), p.Number(p.Attr("epsilon")));
    const ValueId way = p.Do("Div", p.Do("Mul", g, rate), divisor);
    out[i] = p.Do("Sub", p.In(0, i), way);
    out[p.n() + i] = squares;
  }
  return out;
}

OpDef AdagradRecord() {
  OpDef op = OptimizerRecord("Adagrad", {{"decay_factor", AttrKind::kFloat, 0.0f},
                                         {"epsilon", AttrKind::kFloat, 1e-6f},
                                         {"norm_coefficient", AttrKind::kFloat, 0.0f}});
  op.infer = [](InferContext& c) { return InferOptimizer(c, 1); };
  op.decompose = DecomposeAdagrad;
  return op;
}

}  // namespace

// A step of Adagrad.
GE_OP(onnx_training_adagrad) = AdagradRecord();

}  // namespace ge
