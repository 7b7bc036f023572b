// BatchNormalization before opset 14: training was told by the number of outputs; before 9,
// `spatial` = 0 had statistics for every position.
#include <fmt/format.h>

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

Status UpgradeBatchNormalization(NodeUpgrade& upgrade) {
  bool training = false;
  for (size_t i = 1; i < upgrade.node.outputs.size(); ++i) training |= upgrade.has_output(i);
  const bool per_position = upgrade.TakeInt("spatial").value_or(1) == 0;
  if (!training) {
    if (upgrade.node.outputs.size() > 1) upgrade.node.outputs.resize(1);
    return per_position ? ExpandPerPosition(upgrade) : Status();
  }
  if (per_position) {
    return upgrade.Unsupported(
        "several outputs mean training mode, and spatial = 0 statistics of every position, which "
        "no newer opset has together; export the model for inference");
  }
  // PyTorch's exporter names these two and reads neither.
  for (size_t i = 3; i < upgrade.node.outputs.size(); ++i) {
    if (!upgrade.output_is_read(i)) continue;
    return upgrade.Unsupported(
        fmt::format("output {} is read, a statistic saved for gradients, which no opset from 14 on "
                    "has and which runtimes do not agree on; read output 1 or 2, the running mean "
                    "and variance, or export the model for inference",
                    i));
  }
  if (upgrade.node.outputs.size() > 3) upgrade.node.outputs.resize(3);
  upgrade.SetAttr("training_mode", int64_t{1});
  return {};
}

}  // namespace ge
