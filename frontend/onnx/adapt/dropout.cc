// Dropout before opset 12: `ratio` was an attribute; before 10 the mask had the type of the data.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeDropout(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
  double ratio = upgrade.TakeFloat("ratio").value_or(0.5);
  upgrade.SetInput(1, upgrade.FloatScalar(DType::kFloat, ratio));
  if (upgrade.opset >= 10 || !upgrade.has_output(1)) return {};
  DType dtype = upgrade.input_hint(0).dtype;
  if (dtype == DType::kUndefined) {
    return upgrade.Unsupported(
        "the element type of its input must be known, since its mask has it too; "
        "run ONNX shape inference on the model, or export it for opset 10 or "
        "later");
  }
  ValueId mask = upgrade.NewValue({DType::kBool, upgrade.input_hint(0).rank});
  ValueId old_mask = std::exchange(upgrade.node.outputs[1], mask);
  upgrade.AddAfter("Cast", {mask}, {{"to", static_cast<int64_t>(dtype)}}, {old_mask});
  return {};
}

}  // namespace ge
