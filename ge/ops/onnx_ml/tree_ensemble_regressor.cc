#include <fmt/format.h>

#include "ge/ops/families/tree_ensemble.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferTreeEnsembleRegressor(InferContext& c) {
  const Node& n = c.node();
  const int64_t targets = AttrInt(n, "n_targets", 1);
  if (targets < 1 || targets > kMostColumnsAsked) {
    return Bad(
        n, fmt::format("attribute 'n_targets' is {}, wanted 1 to {}", targets, kMostColumnsAsked));
  }
  GE_RETURN_IF_ERROR(WantTreeLists(c, "target", targets));
  GE_ASSIGN_OR_RETURN(const size_t base, WeightCount(c, "base_values"));
  if (base != 0 && static_cast<int64_t>(base) != targets) {
    return Bad(n, fmt::format("attribute 'base_values' has {} entries, wanted none or {}, one for "
                              "each target",
                              base, targets));
  }
  const std::string_view how = AttrString(n, "aggregate_function");
  if (how != "SUM" && how != "AVERAGE" && how != "MIN" && how != "MAX") {
    return Bad(n, fmt::format("attribute 'aggregate_function' is '{:.64}', wanted SUM, AVERAGE, "
                              "MIN or MAX",
                              how));
  }
  GE_RETURN_IF_ERROR(WantPostTransform(n));
  GE_ASSIGN_OR_RETURN(const Dim rows, RowsOfFeatures(c));
  return SetTensor(c, 0, DType::kFloat, {rows, KnownDim(targets)});
}

OpDef TreeEnsembleRegressorRecord() {
  OpDef op{"ai.onnx.ml", "TreeEnsembleRegressor", 3, {{"X", kFeatures, "T"}},
           {},           TreeListAttrs("target"), {}};
  op.outputs = {{"Y", Bit(DType::kFloat)}};
  op.attrs.push_back({"aggregate_function", AttrKind::kString, "SUM"});
  op.attrs.push_back({"n_targets", AttrKind::kInt});
  op.infer = InferTreeEnsembleRegressor;
  op.work = PerOutput<1000>;
  return op;
}

}  // namespace

// Decision trees whose leaves vote for targets with weights, which are put together by target.
GE_OP(onnx_ml_tree_ensemble_regressor) = TreeEnsembleRegressorRecord();

}  // namespace ge
