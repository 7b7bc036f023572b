// Scatter (opsets 9 and 10) got the name ScatterElements.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeScatter(NodeUpgrade& u) {
  if (u.opset >= 11) return u.Invalid("opset 11 removed it, wanted ScatterElements");
  u.node.op = "ScatterElements";
  return {};
}

}  // namespace ge
