#include <fmt/format.h>

#include "ge/ops/families/training.h"

namespace ge {
namespace {

Status InferMomentum(InferContext& c) {
  const std::string_view mode = AttrString(c.node(), "mode");
  if (mode == "standard" || mode == "nesterov") return InferOptimizer(c, 1);
  return Bad(c.node(),
             fmt::format("attribute 'mode' is '{:.64}', wanted 'standard' or 'nesterov'", mode));
}

std::vector<ValueId> DecomposeMomentum(Transaction& t, FunctionId fn, const Node& node) {
  OptimizerParts p(&t, fn, node, 1);
  const bool nesterov = AttrString(node, "mode") == "nesterov";
  std::vector<ValueId> out(2 * p.n());
  for (size_t i = 0; i < p.n(); ++i) {
    const ValueId g = p.Gradient(i), v = p.In(2, i), alpha = p.Number(p.Attr("alpha"));
    const ValueId beta = p.ByStep(p.Number(p.Attr("beta")), p.Number(1));
    const ValueId next = p.Do("Add", p.Do("Mul", v, alpha), p.Do("Mul", g, beta));
    const ValueId way = nesterov ? p.Do("Add", g, p.Do("Mul", next, alpha)) : next;
    out[i] = p.Do("Sub", p.In(0, i), p.Do("Mul", way, p.Rate()));
    out[p.n() + i] = next;
  }
  return out;
}

OpDef MomentumRecord() {
  OpDef op = OptimizerRecord("Momentum", {{"alpha", AttrKind::kFloat, true},
                                          {"beta", AttrKind::kFloat, true},
                                          {"mode", AttrKind::kString, true},
                                          {"norm_coefficient", AttrKind::kFloat, true}});
  op.infer = InferMomentum;
  op.decompose = DecomposeMomentum;
  return op;
}

}  // namespace

// A step of stochastic gradient descent with momentum.
GE_OP(onnx_training_momentum) = MomentumRecord();

}  // namespace ge
