// Squeeze and Unsqueeze before opset 13, ReduceSum before 13, the other Reduce* before 18: `axes`
// was an attribute and is an input now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeAxes(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
  auto axes = upgrade.TakeInts("axes");
  if (!axes) return {};  // absent: all axes, as now
  // An empty list meant all axes for Reduce* and Squeeze; an absent input still does.
  if (axes->empty() && upgrade.node.op != "Unsqueeze") return {};
  upgrade.SetInput(1, upgrade.IntsConst(*axes));
  return {};
}

}  // namespace ge
