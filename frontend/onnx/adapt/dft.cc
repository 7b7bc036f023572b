// DFT before opset 20: `axis` was an attribute, 1 by default, and is an input now, -2 by default.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeDft(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(2));
  u.SetInput(2, u.IntScalar(u.TakeInt("axis").value_or(1)));
  return {};
}

}  // namespace ge
