// Softmax, LogSoftmax and Hardmax before opset 13 worked on the matrix that Flatten(axis) gives,
// with axis 1 by default; now they work along one axis, the last one by default.
#include "frontend/onnx/upgrade.h"

namespace ge {

Status UpgradeSoftmax(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(1));
  if (!u.has_input(0) || !u.has_output(0)) return u.Invalid("it must have an input and an output");
  int64_t axis = u.TakeInt("axis").value_or(1);
  int rank = u.input_hint(0).rank;
  if (rank >= 0 && (axis < -rank || axis >= std::max(rank, 1))) {
    return u.Invalid("axis is " + std::to_string(axis) + ", wanted " + std::to_string(-rank) +
                     " to " + std::to_string(rank - 1) + " for its input of rank " +
                     std::to_string(rank));
  }
  u.SetAttr("axis", int64_t{-1});
  if (axis == -1 || axis == rank - 1) return {};  // the rows of the matrix are the last axis
  ValueId x = u.node.inputs[0], y = u.node.outputs[0];
  ValueId shape = u.Before("Shape", {x});
  u.node.inputs[0] = u.Before("Flatten", {x}, {{"axis", axis}});
  u.node.outputs[0] = u.NewValue({u.input_hint(0).dtype, 2});
  // allowzero: a zero in the shape is a size here, not "as in the input".
  u.AddAfter("Reshape", {u.node.outputs[0], shape}, {{"allowzero", int64_t{1}}}, {y});
  return {};
}

}  // namespace ge
