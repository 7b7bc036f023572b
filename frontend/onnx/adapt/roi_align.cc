// RoiAlign before opset 16 had no coordinate_transformation_mode: regions were not moved by half a
// pixel.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeRoiAlign(NodeUpgrade& upgrade) {
  upgrade.SetAttr("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

}  // namespace ge
