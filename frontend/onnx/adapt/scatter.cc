// Scatter (opsets 9 and 10) got the name ScatterElements.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeScatter(NodeUpgrade& upgrade) {
  if (upgrade.opset >= 11) return upgrade.Invalid("opset 11 removed it, wanted ScatterElements");
  upgrade.node.op = "ScatterElements";
  return {};
}

}  // namespace ge
