// Pad before opset 11: `pads` and `value` were attributes and are inputs now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradePad(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
  auto pads = upgrade.TakeInts("pads");
  auto value = upgrade.TakeFloat("value");
  if (!pads) return upgrade.Invalid("it must have the attribute pads");
  upgrade.SetInput(1, upgrade.IntsConst(*pads));
  if (!value || *value == 0) return {};
  DType dtype = upgrade.input_hint(0).dtype;
  if (!IsPlainFloat(dtype)) {
    return upgrade.Unsupported(
        "the element type of its input must be known, to make its value an input; "
        "run ONNX shape inference on the model, or export it for opset 11 or "
        "later");
  }
  upgrade.SetInput(2, upgrade.FloatScalar(dtype, *value));
  return {};
}

}  // namespace ge
