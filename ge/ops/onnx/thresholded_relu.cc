#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferThresholdedRelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  return InferSame(c);
}

// Where(x > alpha, x, 0).
std::vector<ValueId> DecomposeThresholdedRelu(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  Type truth = type;
  truth.dtype = DType::kBool;
  const ValueId above =
      p.Add("Greater", {x, p.Scalar(step, AttrFloat(node, "alpha", 1.0f))}, truth);
  return {p.Cast(p.Add("Where", {above, x, p.Scalar(step, 0)}, type), wanted)};
}

OpDef ThresholdedReluRecord() {
  OpDef op = Unary<1>("ThresholdedRelu", 22, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f}};
  op.infer = InferThresholdedRelu;
  op.decompose = DecomposeThresholdedRelu;
  return op;
}

}  // namespace

// x where it is greater than alpha, else 0.
GE_OP(thresholded_relu) = ThresholdedReluRecord();

}  // namespace ge
