#include <fmt/format.h>

#include <algorithm>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Lines of coefficients: what the intercepts, the features or else the labels say.
Result<int64_t> LinearClassifierLines(InferContext& c, size_t labels) {
  const Node& n = c.node();
  const auto weights = static_cast<int64_t>(ListLength(n, "coefficients"));
  auto lines = static_cast<int64_t>(ListLength(n, "intercepts"));
  const auto features = FeatureCount(c);
  if (lines == 0 && features && *features > 0) lines = weights / *features;
  const bool odd = !features && labels == 2 && weights % 2 != 0;  // no two lines
  if (lines == 0) lines = odd ? 1 : static_cast<int64_t>(labels);
  const bool fits = features ? weights % lines == 0 && weights / lines == *features
                             : weights % lines == 0 && weights > 0;
  if (fits) return lines;
  return Bad(n, fmt::format("attribute 'coefficients' has {} entries, wanted {} for each of {} "
                            "classes",
                            weights, features ? fmt::format("{}", *features) : "as many", lines));
}

Status InferLinearClassifier(InferContext& c) {
  const Node& n = c.node();
  GE_ASSIGN_OR_RETURN(const size_t labels, ClassLabels(n, "classlabels_ints"));
  GE_ASSIGN_OR_RETURN(const int64_t lines, LinearClassifierLines(c, labels));
  // One line of coefficients tells two classes apart.
  const bool two = lines == 1 && labels == 2;
  if (labels < 2 || (!two && static_cast<int64_t>(labels) != lines)) {
    return Bad(n, fmt::format("attribute 'classlabels_ints' has {} entries, wanted {}, as the "
                              "coefficients have {} lines",
                              labels, std::max<int64_t>(lines, 2), lines));
  }
  GE_RETURN_IF_ERROR(WantPostTransform(n));
  return SetClasses(c, two ? 2 : lines);
}

}  // namespace

// Weighted sums of the features, one for each class; the greatest says which class it is.
GE_OP(onnx_ml_linear_classifier) = {"ai.onnx.ml",
                                    "LinearClassifier",
                                    1,
                                    {{"X", kFeatures, "T1"}},
                                    {{"Y", Bit(DType::kInt64)}, {"Z", Bit(DType::kFloat)}},
                                    {{"classlabels_ints", AttrKind::kInts},
                                     {"classlabels_strings", AttrKind::kStrings},
                                     {"coefficients", AttrKind::kFloats, true},
                                     {"intercepts", AttrKind::kFloats},
                                     {"multi_class", AttrKind::kInt, 0},
                                     {"post_transform", AttrKind::kString, "NONE"}},
                                    InferLinearClassifier,
                                    PerOutput<64>};

}  // namespace ge
