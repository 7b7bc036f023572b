// TopK before opset 10: `k` was an attribute and is an input now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeTopK(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(1));
  auto k = u.TakeInt("k");
  if (!k) return u.Invalid("it must have the attribute k");
  u.SetInput(1, u.IntsConst({*k}));
  return {};
}

}  // namespace ge
