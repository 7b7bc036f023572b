// Clip before opset 11: `min` and `max` were attributes and are inputs now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeClip(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(1));
  auto min = u.TakeFloat("min"), max = u.TakeFloat("max");
  if (!min && !max) return {};
  DType dtype = u.input_hint(0).dtype;
  if (!IsPlainFloat(dtype)) {
    return u.Unsupported(
        "the element type of its input must be known, to make its bounds inputs; "
        "run ONNX shape inference on the model, or export it for opset 11 or "
        "later");
  }
  if (min) u.SetInput(1, u.FloatScalar(dtype, *min));
  if (max) u.SetInput(2, u.FloatScalar(dtype, *max));
  return {};
}

}  // namespace ge
