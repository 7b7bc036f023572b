// Softmax, LogSoftmax and Hardmax before opset 13 worked on the matrix that Flatten(axis) gives,
// with axis 1 by default; now they work along one axis, the last one by default.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeSoftmax(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
  if (!upgrade.has_input(0) || !upgrade.has_output(0))
    return upgrade.Invalid("it must have an input and an output");
  int64_t axis = upgrade.TakeInt("axis").value_or(1);
  int rank = upgrade.input_hint(0).rank;
  if (rank >= 0 && (axis < -rank || axis >= std::max(rank, 1))) {
    return upgrade.Invalid("axis is " + std::to_string(axis) + ", wanted " + std::to_string(-rank) +
                           " to " + std::to_string(rank - 1) + " for its input of rank " +
                           std::to_string(rank));
  }
  upgrade.SetAttr("axis", int64_t{-1});
  if (axis == -1 || axis == rank - 1) return {};  // the rows of the matrix are the last axis
  ValueId x = upgrade.node.inputs[0], y = upgrade.node.outputs[0];
  ValueId shape = upgrade.Before("Shape", {x});
  upgrade.node.inputs[0] = upgrade.Before("Flatten", {x}, {{"axis", axis}});
  upgrade.node.outputs[0] = upgrade.NewValue({upgrade.input_hint(0).dtype, 2});
  // allowzero: a zero in the shape is a size here, not "as in the input".
  upgrade.AddAfter("Reshape", {upgrade.node.outputs[0], shape}, {{"allowzero", int64_t{1}}}, {y});
  return {};
}

}  // namespace ge
