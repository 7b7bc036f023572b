// BatchNormalization before opset 14: training was told by the number of outputs; before 9,
// `spatial` = 0 had statistics for every position.
#include "frontend/onnx/upgrade.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// (X - mean) / sqrt(var + epsilon) * scale + B with shapes (C, D1, ..., Dn), which broadcast over
// N.
Status ExpandPerPosition(NodeUpgrade& u) {
  DType dtype = u.input_hint(1).dtype;
  if (!IsPlainFloat(dtype)) dtype = u.input_hint(0).dtype;
  if (!IsPlainFloat(dtype)) {
    return u.Unsupported(
        "with spatial = 0 the element type of the input must be known; run ONNX "
        "shape inference on the model, or export it for opset 9 or later");
  }
  if (u.node.inputs.size() != 5) return u.Invalid("it must have 5 inputs");
  const std::vector<ValueId> in = u.node.inputs;
  ValueId epsilon = u.FloatScalar(dtype, AttrFloat(u.node, "epsilon", 1e-5f));
  ValueId centred = u.Before("Sub", {in[0], in[3]});
  ValueId variance = u.Before("Add", {in[4], epsilon});
  ValueId deviation = u.Before("Sqrt", {variance});
  ValueId normal = u.Before("Div", {centred, deviation});
  ValueId scaled = u.Before("Mul", {normal, in[1]});
  u.node.op = "Add";
  u.node.attrs.clear();
  u.node.inputs = {scaled, in[2]};
  return {};
}

}  // namespace

Status UpgradeBatchNormalization(NodeUpgrade& u) {
  for (size_t i = 1; i < u.node.outputs.size(); ++i) {
    if (!u.has_output(i)) continue;
    return u.Unsupported(
        "several outputs mean training mode, whose saved statistics no newer opset "
        "has; export the model for inference");
  }
  if (u.node.outputs.size() > 1) u.node.outputs.resize(1);
  if (u.TakeInt("spatial").value_or(1) == 0) return ExpandPerPosition(u);
  return {};
}

}  // namespace ge
