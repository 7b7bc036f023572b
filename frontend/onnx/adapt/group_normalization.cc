// GroupNormalization before opset 21 had one scale and one bias a group; now they are per channel.
#include "frontend/onnx/upgrade.h"
#include "ge/ops/op.h"

namespace ge {

Status UpgradeGroupNormalization(NodeUpgrade& upgrade) {
  GE_RETURN_IF_ERROR(upgrade.WantInputs(3));
  const int64_t groups = AttrInt(upgrade.node, "num_groups", 0);
  if (groups < 1) {
    return upgrade.Invalid("num_groups is " + std::to_string(groups) + ", wanted at least 1");
  }
  if (!upgrade.has_input(0) || !upgrade.has_input(1) || !upgrade.has_input(2)) {
    return upgrade.Invalid("it must have the inputs X, scale and bias");
  }
  // [G] -> [G, 1] -> [G, C / G] -> [C], with C from X's shape.
  const ValueId channels = upgrade.Before("Shape", {upgrade.node.inputs[0]},
                                          {{"start", int64_t{1}}, {"end", int64_t{2}}});
  const ValueId each = upgrade.Before("Div", {channels, upgrade.IntsConst({groups})});
  const ValueId shape =
      upgrade.Before("Concat", {upgrade.IntsConst({groups}), each}, {{"axis", int64_t{0}}});
  for (size_t i = 1; i < 3; ++i) {
    const ValueId column =
        upgrade.Before("Unsqueeze", {upgrade.node.inputs[i], upgrade.IntsConst({1})});
    const ValueId wide = upgrade.Before("Expand", {column, shape});
    upgrade.SetInput(i, upgrade.Before("Reshape", {wide, upgrade.IntsConst({-1})}));
  }
  return {};
}

}  // namespace ge
