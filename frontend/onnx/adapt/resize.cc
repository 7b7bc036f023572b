// Upsample (to opset 9) and Resize before opset 13.
//
// Upsample and Resize 10 had one sampling rule, today's "asymmetric". For "nearest" it took the
// pixel below when an axis grows and the one above when it shrinks: Resize 10 gives 1 and 3 for the
// row (1, 2, 3, 4) at scale 0.6, so one node that does both becomes two.
#include <cstring>

#include "frontend/onnx/upgrade.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

std::optional<std::vector<float>> ConstScales(const Const* c) {
  if (!c || c->type.dtype != DType::kFloat || !c->type.is_static()) return std::nullopt;
  ConstScratch scratch;
  std::vector<float> scales(c->bytes / sizeof(float));
  const std::byte* data = ConstBytes(*c, &scratch);
  if (data && !scales.empty()) std::memcpy(scales.data(), data, scales.size() * sizeof(float));
  return scales;
}

std::vector<Attr> AsymmetricAttrs(const std::string& mode, const char* nearest) {
  std::vector<Attr> attrs = {{"coordinate_transformation_mode", std::string("asymmetric")},
                             {"mode", mode}};
  if (mode == "nearest") attrs.push_back({"nearest_mode", std::string(nearest)});
  return attrs;
}

Status CheckMode(const NodeUpgrade& u, std::string* mode) {
  *mode = AttrString(u.node, "mode", "nearest");
  if (*mode == "nearest" || *mode == "linear") return {};
  return u.Invalid("mode is '" + *mode + "', wanted nearest or linear");
}

// Sets the node to a Resize of X by scales.
void SetResize(NodeUpgrade& u, ValueId x, ValueId scales, const std::string& mode,
               const char* nearest) {
  u.node.op = "Resize";
  u.node.inputs = {x, 0, scales};
  u.node.attrs = AsymmetricAttrs(mode, nearest);
}

Status UpgradeResize10(NodeUpgrade& u) {
  if (u.node.inputs.size() != 2 || !u.has_input(0) || !u.has_input(1)) {
    return u.Invalid("it must have the inputs X and scales");
  }
  std::string mode;
  GE_RETURN_IF_ERROR(CheckMode(u, &mode));
  ValueId x = u.node.inputs[0], scales = u.node.inputs[1];
  auto values = ConstScales(u.input_const(1));
  if (mode == "linear") {
    SetResize(u, x, scales, mode, "");
    return {};
  }
  if (!values) {
    return u.Unsupported(
        "in mode nearest its scales must be constant, since growing and shrinking "
        "round differently; export the model for opset 11 or later");
  }
  std::vector<float> down = *values, up = *values;
  bool shrinks = false, grows = false;
  for (size_t i = 0; i < values->size(); ++i) {
    shrinks = shrinks || (*values)[i] < 1;
    grows = grows || (*values)[i] > 1;
    down[i] = std::min(down[i], 1.0f);
    up[i] = std::max(up[i], 1.0f);
  }
  if (shrinks && grows) {
    x = u.Before("Resize", {x, 0, u.FloatsConst(down)}, AsymmetricAttrs(mode, "ceil"));
    scales = u.FloatsConst(up);
  }
  SetResize(u, x, scales, mode, grows ? "floor" : "ceil");
  return {};
}

}  // namespace

Status UpgradeUpsample(NodeUpgrade& upgrade) {
  if (upgrade.opset >= 10) return upgrade.Invalid("opset 10 removed it, wanted Resize");
  std::string mode;
  GE_RETURN_IF_ERROR(CheckMode(upgrade, &mode));
  if (upgrade.opset < 9) {
    GE_RETURN_IF_ERROR(upgrade.WantInputs(1));
    auto scales = upgrade.TakeFloats("scales");
    if (!scales) return upgrade.Invalid("it must have the attribute scales");
    upgrade.SetInput(1, upgrade.FloatsConst(std::vector<float>(scales->begin(), scales->end())));
  }
  if (upgrade.node.inputs.size() != 2 || !upgrade.has_input(0) || !upgrade.has_input(1)) {
    return upgrade.Invalid("it must have the inputs X and scales");
  }
  if (auto values = ConstScales(upgrade.input_const(1))) {
    for (float v : *values) {
      if (!(v >= 1))
        return upgrade.Invalid("a scale is " + std::to_string(v) + ", wanted 1 or more");
    }
  }
  SetResize(upgrade, upgrade.node.inputs[0], upgrade.node.inputs[1], mode, "floor");
  return {};
}

// Opsets 11 and 12: roi and scales had to be there even when they meant nothing.
Status UpgradeResize(NodeUpgrade& upgrade) {
  if (upgrade.opset < 11) return UpgradeResize10(upgrade);
  std::string_view where = AttrString(upgrade.node, "coordinate_transformation_mode", "half_pixel");
  if (where == "tf_half_pixel_for_nn") {
    return upgrade.Unsupported(
        "coordinate_transformation_mode tf_half_pixel_for_nn was removed at opset "
        "13; export the model with half_pixel or asymmetric");
  }
  if (where != "tf_crop_and_resize" && upgrade.has_input(1)) upgrade.SetInput(1, 0);
  if (upgrade.has_input(3)) {
    const Const* scales = upgrade.input_const(2);
    if (scales && ElementCount(scales->type) != 0) {
      return upgrade.Invalid("both scales and sizes are given, wanted one of them");
    }
    upgrade.SetInput(2, 0);
  }
  return {};
}

}  // namespace ge
