// Clip before opset 11: `min` and `max` were attributes and are inputs now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeClip(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
  auto min = upgrade.TakeFloat("min"), max = upgrade.TakeFloat("max");
  if (!min && !max) return {};
  DType dtype = upgrade.input_hint(0).dtype;
  if (!IsPlainFloat(dtype)) {
    return upgrade.Unsupported(
        "the element type of its input must be known, to make its bounds inputs; "
        "run ONNX shape inference on the model, or export it for opset 11 or "
        "later");
  }
  if (min) upgrade.SetInput(1, upgrade.FloatScalar(dtype, *min));
  if (max) upgrade.SetInput(2, upgrade.FloatScalar(dtype, *max));
  return {};
}

}  // namespace ge
