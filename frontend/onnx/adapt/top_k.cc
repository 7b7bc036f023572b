// TopK before opset 10: `k` was an attribute and is an input now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeTopK(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
  auto k = upgrade.TakeInt("k");
  if (!k) return upgrade.Invalid("it must have the attribute k");
  upgrade.SetInput(1, upgrade.IntsConst({*k}));
  return {};
}

}  // namespace ge
