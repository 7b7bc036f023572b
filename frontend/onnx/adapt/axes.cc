// Squeeze and Unsqueeze before opset 13, ReduceSum before 13, the other Reduce* before 18: `axes`
// was an attribute and is an input now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeAxes(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(1));
  auto axes = u.TakeInts("axes");
  if (!axes) return {};  // absent: all axes, as now
  // An empty list meant all axes for Reduce* and Squeeze; an absent input still does.
  if (axes->empty() && u.node.op != "Unsqueeze") return {};
  u.SetInput(1, u.IntsConst(*axes));
  return {};
}

}  // namespace ge
