// Slice before opset 10: starts, ends and axes were attributes and are inputs now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeSlice(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
  auto starts = upgrade.TakeInts("starts"), ends = upgrade.TakeInts("ends"),
       axes = upgrade.TakeInts("axes");
  if (!starts || !ends) return upgrade.Invalid("it must have the attributes starts and ends");
  if (starts->size() != ends->size() || (axes && axes->size() != starts->size())) {
    return upgrade.Invalid("starts, ends and axes must have the same number of entries");
  }
  upgrade.SetInput(1, upgrade.IntsConst(*starts));
  upgrade.SetInput(2, upgrade.IntsConst(*ends));
  if (axes) upgrade.SetInput(3, upgrade.IntsConst(*axes));
  return {};
}

}  // namespace ge
