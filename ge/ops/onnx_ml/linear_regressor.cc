#include <fmt/format.h>

#include "ge/ops/decompose.h"
#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferLinearRegressor(InferContext& c) {
  const Node& n = c.node();
  const int64_t targets = AttrInt(n, "targets");
  const auto most = static_cast<int64_t>(ListLength(n, "coefficients"));
  if (targets < 1 || targets > most) {
    return Bad(n, fmt::format("attribute 'targets' is {}, wanted 1 to {}, the number of "
                              "coefficients",
                              targets, most));
  }
  if (const auto features = FeatureCount(c); features && *features <= most) {
    GE_RETURN_IF_ERROR(WantLength(n, "coefficients", static_cast<size_t>(targets * *features),
                                  "one for each target and feature"));
  } else if (features) {
    return Bad(n, fmt::format("attribute 'coefficients' has {} entries, wanted {} for each of {} "
                              "targets",
                              most, *features, targets));
  }
  if (ListLength(n, "intercepts") > 0) {
    GE_RETURN_IF_ERROR(
        WantLength(n, "intercepts", static_cast<size_t>(targets), "one for each target"));
  }
  GE_RETURN_IF_ERROR(WantPostTransform(n));
  GE_ASSIGN_OR_RETURN(const Dim rows, RowsOfFeatures(c));
  return SetTensor(c, 0, DType::kFloat, {rows, KnownDim(targets)});
}

// A product of matrices, where rows are f32 and no transform but the common ones follows.
std::vector<ValueId> DecomposeLinearRegressor(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type x = p.TypeOf(node.inputs[0]);
  const int64_t targets = AttrInt(node, "targets");
  const std::string_view transform = AttrString(node, "post_transform");
  const bool softmax = transform == "SOFTMAX", logistic = transform == "LOGISTIC";
  const bool plain = transform == "NONE" || (targets == 1 && (softmax || logistic));
  if (x.dtype != DType::kFloat || x.rank() != 2 || !x.dims[1].known() || targets < 1 ||
      (!plain && !softmax && !logistic)) {
    return {};
  }
  const ValueId weights = FloatsConst(t, fn, node, "coefficients", {targets, x.dims[1].value});
  if (weights == 0) return {};
  std::vector<ValueId> inputs = {node.inputs[0], weights};
  if (const ValueId offsets = FloatsConst(t, fn, node, "intercepts", {targets})) {
    inputs.push_back(offsets);
  }
  Type type = x;
  type.dims[1] = KnownDim(targets);
  ValueId y = p.Add("Gemm", std::move(inputs), type, {{"transB", int64_t{1}}});
  if (!plain) {
    y = softmax ? p.Add("Softmax", {y}, type, {{"axis", int64_t{1}}}) : p.Add("Sigmoid", {y}, type);
  }
  return {y};
}

}  // namespace

// Weighted sums of the features, one for each target, and a transform of them.
GE_OP(onnx_ml_linear_regressor) = {"ai.onnx.ml",
                                   "LinearRegressor",
                                   1,
                                   {{"X", kFeatures, "T"}},
                                   {{"Y", Bit(DType::kFloat)}},
                                   {{"coefficients", AttrKind::kFloats},
                                    {"intercepts", AttrKind::kFloats},
                                    {"post_transform", AttrKind::kString, "NONE"},
                                    {"targets", AttrKind::kInt, 1}},
                                   InferLinearRegressor,
                                   PerOutput<64>,
                                   true,
                                   false,
                                   DecomposeLinearRegressor};

}  // namespace ge
