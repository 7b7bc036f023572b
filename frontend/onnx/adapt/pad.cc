// Pad before opset 11: `pads` and `value` were attributes and are inputs now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradePad(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(1));
  auto pads = u.TakeInts("pads");
  auto value = u.TakeFloat("value");
  if (!pads) return u.Invalid("it must have the attribute pads");
  u.SetInput(1, u.IntsConst(*pads));
  if (!value || *value == 0) return {};
  DType dtype = u.input_hint(0).dtype;
  if (!IsPlainFloat(dtype)) {
    return u.Unsupported(
        "the element type of its input must be known, to make its value an input; "
        "run ONNX shape inference on the model, or export it for opset 11 or "
        "later");
  }
  u.SetInput(2, u.FloatScalar(dtype, *value));
  return {};
}

}  // namespace ge
