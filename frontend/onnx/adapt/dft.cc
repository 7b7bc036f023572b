// DFT before opset 20: `axis` was an attribute, 1 by default, and is an input now, -2 by default.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeDft(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(2));
  upgrade.SetInput(2, upgrade.IntScalar(upgrade.TakeInt("axis").value_or(1)));
  return {};
}

}  // namespace ge
