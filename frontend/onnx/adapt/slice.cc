// Slice before opset 10: starts, ends and axes were attributes and are inputs now.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeSlice(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(1));
  auto starts = u.TakeInts("starts"), ends = u.TakeInts("ends"), axes = u.TakeInts("axes");
  if (!starts || !ends) return u.Invalid("it must have the attributes starts and ends");
  if (starts->size() != ends->size() || (axes && axes->size() != starts->size())) {
    return u.Invalid("starts, ends and axes must have the same number of entries");
  }
  u.SetInput(1, u.IntsConst(*starts));
  u.SetInput(2, u.IntsConst(*ends));
  if (axes) u.SetInput(3, u.IntsConst(*axes));
  return {};
}

}  // namespace ge
