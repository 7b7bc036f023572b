#include <fmt/format.h>

#include "ge/ops/decompose.h"
#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// One number for all features, or one for each.
Status WantScalerList(InferContext& c, std::string_view name) {
  const size_t found = ListLength(c.node(), name);
  const auto features = FeatureCount(c);
  if (found <= 1 || !features || static_cast<int64_t>(found) == *features) return {};
  return Bad(c.node(), fmt::format("attribute '{}' has {} entries, wanted 1 or {}, one for each "
                                   "feature",
                                   name, found, *features));
}

Status InferScaler(InferContext& c) {
  GE_RETURN_IF_ERROR(WantScalerList(c, "offset"));
  GE_RETURN_IF_ERROR(WantScalerList(c, "scale"));
  Type y = c.input_type(0);
  y.dtype = DType::kFloat;
  c.SetOutput(0, std::move(y));
  return {};
}

// Of f32 alone: other types are wider than the steps would be.
std::vector<ValueId> DecomposeScaler(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  ValueId y = node.inputs[0];
  const Type type = p.TypeOf(y);
  if (type.dtype != DType::kFloat || !type.ranked || type.rank() == 0) return {};
  for (const auto& [list, op] : {std::pair{"offset", "Sub"}, std::pair{"scale", "Mul"}}) {
    const auto count = static_cast<int64_t>(ListLength(node, list));
    if (count == 0) continue;
    y = p.Add(op, {y, FloatsConst(t, fn, node, list, {count})}, type);
  }
  return y == node.inputs[0] ? std::vector<ValueId>() : std::vector<ValueId>{y};
}

}  // namespace

// (x - offset) * scale, with one pair for all features (the last axis) or one for each.
GE_OP(onnx_ml_scaler) = {"ai.onnx.ml",
                         "Scaler",
                         1,
                         {{"X", kFeatures, "T"}},
                         {{"Y", Bit(DType::kFloat)}},
                         {{"offset", AttrKind::kFloats}, {"scale", AttrKind::kFloats}},
                         InferScaler,
                         PerOutput<2>,
                         true,
                         false,
                         DecomposeScaler};

}  // namespace ge
