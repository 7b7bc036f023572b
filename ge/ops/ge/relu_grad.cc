#include "ge/ops/decompose.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferReluGrad(InferContext& c) {
  const Type &dy = c.input_type(0), &y = c.input_type(1);
  if (dy.ranked) GE_RETURN_IF_ERROR(WantShape(c, 1, "Y", dy.dims));
  c.SetOutput(0, dy.ranked || !y.ranked ? dy : y);
  return {};
}

std::vector<ValueId> DecomposeReluGrad(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type dy = p.TypeOf(node.inputs[0]), y = p.TypeOf(node.inputs[1]);
  const DType step = StepDType(dy.dtype);
  const ValueId zero = p.Cast(p.Scalar(step, 0), dy.dtype);
  Type up = y;
  up.dtype = DType::kBool;
  const ValueId above = p.Add("Greater", {node.inputs[1], zero}, std::move(up));
  return {p.Add("Where", {above, node.inputs[0], zero}, p.TypeOf(node.outputs[0]))};
}

OpDef ReluGradRecord() {
  OpDef op{"ge", "ReluGrad", 1, {}, {{"dX", kFloats, "T"}}, {}, InferReluGrad, PerOutput<1>};
  op.inputs = {{"dY", kFloats, "T"}, {"Y", kFloats, "T"}};
  op.decompose = DecomposeReluGrad;
  return op;
}

}  // namespace

// dY where Relu's result Y is above 0, else 0.
GE_OP(relu_grad) = ReluGradRecord();

}  // namespace ge
