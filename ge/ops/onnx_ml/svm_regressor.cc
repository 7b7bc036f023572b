#include <fmt/format.h>

#include "ge/ops/families/support_vectors.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSvmRegressor(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(WantKernelAttrs(n));
  GE_RETURN_IF_ERROR(WantPostTransform(n));
  GE_RETURN_IF_ERROR(WantLength(n, "rho", 1, "the regression has one offset"));
  const int64_t supports = AttrInt(n, "n_supports");
  const auto vectors = static_cast<int64_t>(ListLength(n, "support_vectors"));
  if (supports < 0 || supports > vectors) {
    return Bad(n, fmt::format("attribute 'n_supports' is {}, wanted 0 to {}, the entries of "
                              "support_vectors",
                              supports, vectors));
  }
  const auto features = FeatureCount(c);
  if (supports > 0) {
    GE_RETURN_IF_ERROR(WantLength(n, "coefficients", static_cast<size_t>(supports),
                                  "one for each support vector"));
    GE_RETURN_IF_ERROR(WantSupportVectors(c, supports));
  } else if (features) {
    GE_RETURN_IF_ERROR(WantLength(n, "coefficients", static_cast<size_t>(*features),
                                  "one for each feature, as there are no support vectors"));
  }
  GE_ASSIGN_OR_RETURN(const Dim rows, RowsOfFeatures(c));
  return SetTensor(c, 0, DType::kFloat, {rows, KnownDim(1)});
}

}  // namespace

// A weighted sum of kernel functions of the row and the support vectors.
GE_OP(onnx_ml_svm_regressor) = {"ai.onnx.ml",
                                "SVMRegressor",
                                1,
                                {{"X", kFeatures, "T"}},
                                {{"Y", Bit(DType::kFloat)}},
                                {{"coefficients", AttrKind::kFloats},
                                 {"kernel_params", AttrKind::kFloats},
                                 {"kernel_type", AttrKind::kString, "LINEAR"},
                                 {"n_supports", AttrKind::kInt, 0},
                                 {"one_class", AttrKind::kInt, 0},
                                 {"post_transform", AttrKind::kString, "NONE"},
                                 {"rho", AttrKind::kFloats},
                                 {"support_vectors", AttrKind::kFloats}},
                                InferSvmRegressor,
                                PerOutput<1000>};

}  // namespace ge
