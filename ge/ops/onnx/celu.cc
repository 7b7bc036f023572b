#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferCelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  if (AttrFloat(c.node(), "alpha") == 0) {
    return Bad(c.node(), "attribute 'alpha' is 0, wanted a number that x can be divided by");
  }
  return InferSame(c);
}

// max(0, x) + min(0, alpha * Elu(x / alpha)), where alpha is positive.
std::vector<ValueId> DecomposeCelu(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const double alpha = AttrFloat(node, "alpha", 1.0f);
  if (alpha <= 0) return {};
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  const std::vector<Attr> one = {{"alpha", 1.0}};
  if (alpha == 1) return {p.Cast(p.Add("Elu", {x}, type, one), wanted)};
  const ValueId factor = p.Scalar(step, alpha), zero = p.Scalar(step, 0);
  const ValueId curve = p.Add("Elu", {p.Add("Div", {x, factor}, type)}, type, one);
  const ValueId below = p.Add("Min", {p.Add("Mul", {curve, factor}, type), zero}, type);
  return {p.Cast(p.Add("Add", {p.Add("Max", {x, zero}, type), below}, type), wanted)};
}

OpDef CeluRecord() {
  OpDef op = Unary<12>("Celu", 28, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f}};
  op.infer = InferCelu;
  op.decompose = DecomposeCelu;
  return op;
}

}  // namespace

// max(0, x) + min(0, alpha * (e^(x / alpha) - 1)).
GE_OP(celu) = CeluRecord();

}  // namespace ge
