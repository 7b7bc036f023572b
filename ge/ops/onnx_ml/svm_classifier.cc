#include <fmt/format.h>

#include "ge/ops/families/support_vectors.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Pairs of classes have lines of coefficients, offsets and, for probabilities, two parameters.
Status WantPairLists(InferContext& c, int64_t classes, int64_t supports) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(
      WantLength(n, "vectors_per_class", static_cast<size_t>(classes), "one for each class label"));
  const auto most = static_cast<int64_t>(ListLength(n, "support_vectors"));
  if (classes < 2 || supports > most || classes > most) {
    return Bad(n, fmt::format("{} class labels and {} support vectors, wanted 2 labels or more and "
                              "vectors of {} entries in all",
                              classes, supports, most));
  }
  const auto pairs = static_cast<size_t>(classes * (classes - 1) / 2);
  GE_RETURN_IF_ERROR(WantLength(n, "coefficients", static_cast<size_t>((classes - 1) * supports),
                                "one for each support vector and other class"));
  GE_RETURN_IF_ERROR(WantLength(n, "rho", pairs, "one for each pair of classes"));
  for (const char* list : {"prob_a", "prob_b"}) {
    if (ListLength(n, "prob_a") + ListLength(n, "prob_b") == 0) break;
    GE_RETURN_IF_ERROR(WantLength(n, list, pairs, "one for each pair of classes"));
  }
  return WantSupportVectors(c, supports);
}

Status InferSvmClassifier(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(WantKernelAttrs(n));
  GE_RETURN_IF_ERROR(WantPostTransform(n));
  GE_ASSIGN_OR_RETURN(const size_t labels, ClassLabels(n, "classlabels_ints"));
  const auto classes = static_cast<int64_t>(labels);
  int64_t supports = 0;
  for (const int64_t count : AttrInts(n, "vectors_per_class")) {
    if (count < 0 || count > INT32_MAX - supports) {
      return Bad(n, fmt::format("attribute 'vectors_per_class' holds {}, wanted 0 or more and less "
                                "than 2^31 in all",
                                count));
    }
    supports += count;
  }
  if (supports == 0) {
    const auto weights = static_cast<int64_t>(ListLength(n, "coefficients"));
    const auto features = FeatureCount(c);
    const bool fits = weights % classes == 0 && (!features || weights / classes == *features);
    if (!fits || ListLength(n, "rho") == 0) {
      return Bad(n,
                 fmt::format("attributes 'coefficients' and 'rho' have {} and {} entries, wanted "
                             "one coefficient for each of {} classes and each feature, and an "
                             "offset",
                             weights, ListLength(n, "rho"), classes));
    }
    return SetClasses(c, classes == 1 ? 1 : classes);
  }
  GE_RETURN_IF_ERROR(WantPairLists(c, classes, supports));
  const bool probabilities = ListLength(n, "prob_a") > 0;
  // Scores are those of pairs unless there are probabilities; two classes get one score each.
  return SetClasses(c, probabilities || classes == 2 ? classes : classes * (classes - 1) / 2);
}

OpDef SvmClassifierRecord() {
  OpDef op{"ai.onnx.ml", "SVMClassifier", 1, {{"X", kFeatures, "T1"}}, {}, {}};
  op.outputs = {{"Y", Bit(DType::kInt64)}, {"Z", Bit(DType::kFloat)}};
  op.attrs = {{"classlabels_ints", AttrKind::kInts},
              {"classlabels_strings", AttrKind::kStrings},
              {"coefficients", AttrKind::kFloats},
              {"kernel_params", AttrKind::kFloats},
              {"kernel_type", AttrKind::kString, "LINEAR"},
              {"post_transform", AttrKind::kString, "NONE"},
              {"prob_a", AttrKind::kFloats},
              {"prob_b", AttrKind::kFloats},
              {"rho", AttrKind::kFloats},
              {"support_vectors", AttrKind::kFloats},
              {"vectors_per_class", AttrKind::kInts}};
  op.infer = InferSvmClassifier;
  op.work = PerOutput<1000>;
  return op;
}

}  // namespace

// Every pair of classes votes by a weighted sum of kernel functions; the most votes win.
GE_OP(onnx_ml_svm_classifier) = SvmClassifierRecord();

}  // namespace ge
