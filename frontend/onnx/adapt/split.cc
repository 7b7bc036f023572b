// Split before opset 13 had its sizes in an attribute; before 18 equal parts needed no count.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeSplit(NodeUpgrade& upgrade) {
  if (upgrade.opset < 13) {
    GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
    auto sizes = upgrade.TakeInts("split");
    if (sizes && !sizes->empty()) upgrade.SetInput(1, upgrade.IntsConst(*sizes));
  }
  if (!upgrade.has_input(1))
    upgrade.SetAttr("num_outputs", static_cast<int64_t>(upgrade.node.outputs.size()));
  return {};
}

}  // namespace ge
