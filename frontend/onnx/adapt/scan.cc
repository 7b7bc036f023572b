// Scan of opset 8 had a batch axis and sequence lengths, which no newer Scan has.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeScan(NodeUpgrade& upgrade) {
  return upgrade.Unsupported(
      "it scans each batch on its own, which later opsets dropped; export the "
      "model for opset 9 or later");
}

}  // namespace ge
