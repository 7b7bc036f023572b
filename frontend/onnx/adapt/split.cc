// Split before opset 13 had its sizes in an attribute; before 18 equal parts needed no count.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeSplit(NodeUpgrade& u) {
  if (u.opset < 13) {
    GE_RETURN_IF_ERROR(u.WantInputs(1));
    auto sizes = u.TakeInts("split");
    if (sizes && !sizes->empty()) u.SetInput(1, u.IntsConst(*sizes));
  }
  if (!u.has_input(1)) u.SetAttr("num_outputs", static_cast<int64_t>(u.node.outputs.size()));
  return {};
}

}  // namespace ge
