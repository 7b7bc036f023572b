// What opsets 1 to 6 wrote in another way, for many operators alike: broadcasting by attributes,
// consumed_inputs, is_test. The operator's own adapter comes after it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/onnx/upgrade.h"

namespace ge {
namespace {

bool IsOneOf(const Node& n, std::initializer_list<std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), n.op) != ops.end();
}

// Gives input `i` so many axes of size 1 at its end.
void AddTrailingAxes(NodeUpgrade& u, size_t i, int rank, int64_t count) {
  std::vector<int64_t> axes;
  for (int64_t k = 0; k < count; ++k) axes.push_back(rank + k);
  if (axes.empty()) return;
  u.node.inputs[i] = u.Before("Unsqueeze", {u.node.inputs[i], u.IntsConst(axes)});
}

// B's first axis lay on axis `axis` of A; without the attribute the last ones fell together, as
// they do today.
Status UpgradeBroadcast(NodeUpgrade& u) {
  const bool broadcast = u.TakeInt("broadcast").value_or(0) != 0;
  const auto given = u.TakeInt("axis");
  if (!broadcast || !given || !u.has_input(1)) return {};
  const int a = u.input_hint(0).rank, b = u.input_hint(1).rank;
  if (a < 0 || b < 0) {
    return u.Unsupported(
        "it broadcasts along an axis, but the ranks of its inputs are not known; "
        "export the model for opset 7 or later");
  }
  const int64_t axis = *given < 0 ? *given + a : *given;
  if (axis < 0 || axis + b > a) {
    return u.Invalid(fmt::format("attribute 'axis' is {} for ranks {} and {}", *given, a, b));
  }
  AddTrailingAxes(u, 1, b, a - axis - b);
  return {};
}

// A slope for each channel stood along axis 1.
Status UpgradeSlope(NodeUpgrade& u) {
  const int a = u.input_hint(0).rank, b = u.input_hint(1).rank;
  const Const* slope = u.input_const(1);
  if (b != 1 || a <= 2 || (slope && ElementCount(slope->type) == 1)) return {};
  AddTrailingAxes(u, 1, b, a - 2);
  return {};
}

Status WantInference(NodeUpgrade& u) {
  if (u.TakeInt("is_test").value_or(0) != 0) return {};
  return u.Unsupported("attribute 'is_test' is 0, which trains; export the model for inference");
}

Status UpgradeCastName(NodeUpgrade& u) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
      "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
      "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};
  const Attr* to = u.node.attr("to");
  const auto* name = to ? std::get_if<std::string>(&to->value) : nullptr;
  if (!name) return {};
  const auto at = std::find(kNames.begin() + 1, kNames.end(), *name);
  if (at == kNames.end()) {
    return u.Invalid(fmt::format("attribute 'to' is '{:.64}', wanted a type such as FLOAT", *name));
  }
  u.SetAttr("to", static_cast<int64_t>(at - kNames.begin()));
  return {};
}

Status UpgradeShapeAttr(NodeUpgrade& u) {
  if (auto shape = u.TakeInts("shape")) u.SetInput(1, u.IntsConst(*shape));
  return {};
}

// Before opset 2 and 5.
Status UpgradeEarliest(NodeUpgrade& u) {
  if (u.node.op == "Reshape" && u.opset < 5) return UpgradeShapeAttr(u);
  if (u.node.op == "Concat" && u.opset < 4 && !u.node.attr("axis")) {
    u.SetAttr("axis", int64_t{1});
  }
  if (u.node.op == "Pad" && u.opset < 2) {
    if (auto pads = u.TakeInts("paddings")) u.SetAttr("pads", *pads);
  }
  if (IsOneOf(u.node, {"LpPool", "GlobalLpPool"}) && u.opset < 2) {
    u.SetAttr("p", static_cast<int64_t>(u.TakeFloat("p").value_or(2)));
  }
  if (u.node.op == "Tile" && u.opset < 6) {
    return u.Unsupported("it repeats along one axis; export the model for opset 6 or later");
  }
  if (u.node.op == "Upsample" && u.node.attr("height_scale")) {
    u.SetAttr("scales", std::vector<double>{1, 1, u.TakeFloat("height_scale").value_or(1),
                                            u.TakeFloat("width_scale").value_or(1)});
  }
  return {};
}

}  // namespace

Status UpgradeFirstOpsets(NodeUpgrade& upgrade) {
  upgrade.TakeInts("consumed_inputs");
  if (IsOneOf(upgrade.node, {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Greater",
                             "Less", "Equal"})) {
    return UpgradeBroadcast(upgrade);
  }
  if (upgrade.node.op == "Gemm") upgrade.TakeInt("broadcast");
  if (upgrade.node.op == "PRelu") return UpgradeSlope(upgrade);
  if (upgrade.node.op == "Cast") return UpgradeCastName(upgrade);
  if (IsOneOf(upgrade.node, {"BatchNormalization", "Dropout"})) return WantInference(upgrade);
  if (IsOneOf(upgrade.node, {"RNN", "GRU", "LSTM"})) upgrade.TakeInt("output_sequence");
  return UpgradeEarliest(upgrade);
}

}  // namespace ge
