#include <fmt/format.h>

#include "ge/ops/families/tree_ensemble.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferTreeEnsembleClassifier(InferContext& c) {
  const Node& n = c.node();
  GE_ASSIGN_OR_RETURN(const size_t labels, ClassLabels(n, "classlabels_int64s"));
  const auto classes = static_cast<int64_t>(labels);
  GE_RETURN_IF_ERROR(WantTreeLists(c, "class", classes));
  GE_ASSIGN_OR_RETURN(const size_t base, WeightCount(c, "base_values"));
  if (base != 0 && base != labels && (labels != 2 || base != 1)) {
    return Bad(n, fmt::format("attribute 'base_values' has {} entries, wanted none or {}, one for "
                              "each class",
                              base, labels));
  }
  GE_RETURN_IF_ERROR(WantPostTransform(n));
  return SetClasses(c, classes);
}

OpDef TreeEnsembleClassifierRecord() {
  OpDef op{"ai.onnx.ml", "TreeEnsembleClassifier", 3, {{"X", kFeatures, "T1"}},
           {},           TreeListAttrs("class"),   {}};
  op.outputs = {{"Y", Bit(DType::kInt64)}, {"Z", Bit(DType::kFloat)}};
  op.attrs.push_back({"classlabels_int64s", AttrKind::kInts});
  op.attrs.push_back({"classlabels_strings", AttrKind::kStrings});
  op.infer = InferTreeEnsembleClassifier;
  op.work = PerOutput<1000>;
  return op;
}

}  // namespace

// Decision trees whose leaves vote for classes; the class with the greatest sum is the answer.
GE_OP(onnx_ml_tree_ensemble_classifier) = TreeEnsembleClassifierRecord();

}  // namespace ge
