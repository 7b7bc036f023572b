// GroupNormalization before opset 21 had one scale and one bias a group; now they are per channel.
#include "frontend/onnx/upgrade.h"
#include "ge/ops/op.h"

namespace ge {

Status UpgradeGroupNormalization(NodeUpgrade& u) {
  GE_RETURN_IF_ERROR(u.WantInputs(3));
  const int64_t groups = AttrInt(u.node, "num_groups", 0);
  if (groups < 1) {
    return u.Invalid("num_groups is " + std::to_string(groups) + ", wanted at least 1");
  }
  if (!u.has_input(0) || !u.has_input(1) || !u.has_input(2)) {
    return u.Invalid("it must have the inputs X, scale and bias");
  }
  // [G] -> [G, 1] -> [G, C / G] -> [C], with C from X's shape.
  const ValueId channels =
      u.Before("Shape", {u.node.inputs[0]}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  const ValueId each = u.Before("Div", {channels, u.IntsConst({groups})});
  const ValueId shape = u.Before("Concat", {u.IntsConst({groups}), each}, {{"axis", int64_t{0}}});
  for (size_t i = 1; i < 3; ++i) {
    const ValueId column = u.Before("Unsqueeze", {u.node.inputs[i], u.IntsConst({1})});
    const ValueId wide = u.Before("Expand", {column, shape});
    u.SetInput(i, u.Before("Reshape", {wide, u.IntsConst({-1})}));
  }
  return {};
}

}  // namespace ge
