// GridSample before opset 20 knew two axes and called its modes "bilinear" and "bicubic".
#include "frontend/onnx/upgrade.h"
#include "ge/ops/op.h"

namespace ge {

Status UpgradeGridSample(NodeUpgrade& upgrade) {
  const std::string mode(AttrString(upgrade.node, "mode", "bilinear"));
  if (mode == "bilinear") {
    upgrade.SetAttr("mode", std::string("linear"));
  } else if (mode == "bicubic") {
    upgrade.SetAttr("mode", std::string("cubic"));
  } else if (mode != "nearest") {
    return upgrade.Invalid("mode is '" + mode + "', wanted bilinear, nearest or bicubic");
  }
  return {};
}

}  // namespace ge
