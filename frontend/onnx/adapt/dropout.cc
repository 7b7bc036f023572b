// Dropout before opset 12: `ratio` was an attribute; before 10 the mask had the type of the data.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeDropout(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(1));
  double ratio = u.TakeFloat("ratio").value_or(0.5);
  u.SetInput(1, u.FloatScalar(DType::kFloat, ratio));
  if (u.opset >= 10 || !u.has_output(1)) return {};
  DType dtype = u.input_hint(0).dtype;
  if (dtype == DType::kUndefined) {
    return u.Unsupported(
        "the element type of its input must be known, since its mask has it too; "
        "run ONNX shape inference on the model, or export it for opset 10 or "
        "later");
  }
  ValueId mask = u.NewValue({DType::kBool, u.input_hint(0).rank});
  ValueId old_mask = std::exchange(u.node.outputs[1], mask);
  u.AddAfter("Cast", {mask}, {{"to", static_cast<int64_t>(dtype)}}, {old_mask});
  return {};
}

}  // namespace ge
