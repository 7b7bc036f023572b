#include <fmt/format.h>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Columns of input `i` in the result: what the attribute says, else as many as it has.
Result<Dim> VectorizedColumns(InferContext& c, size_t i) {
  const std::vector<int64_t>& sizes = AttrInts(c.node(), "inputdimensions");
  if (i < sizes.size()) {
    if (sizes[i] >= 0 && sizes[i] <= kMostColumnsAsked) return KnownDim(sizes[i]);
    return Bad(c.node(), fmt::format("attribute 'inputdimensions' holds {}, wanted 0 to {}",
                                     sizes[i], kMostColumnsAsked));
  }
  const Type& x = c.input_type(i);
  return x.ranked ? x.dims.back() : c.FreshDim("columns", false);
}

Status InferFeatureVectorizer(InferContext& c) {
  const size_t n = c.input_count();
  if (HasAttr(c.node(), "inputdimensions")) {
    GE_RETURN_IF_ERROR(WantLength(c.node(), "inputdimensions", n, "one for each input"));
  }
  std::optional<Dim> rows;
  Dim columns = KnownDim(0);
  for (size_t i = 0; i < n; ++i) {
    const Type& x = c.input_type(i);
    if (x.ranked && x.rank() != 1 && x.rank() != 2) {
      return Bad(c.node(), fmt::format("input {} has shape {}, wanted [N,C] or [C]", i,
                                       Show(c.dims(), x.dims)));
    }
    if (x.ranked) {
      const Dim mine = x.rank() == 2 ? x.dims[0] : KnownDim(1);
      GE_ASSIGN_OR_RETURN(rows, SameDim(c, rows.value_or(mine), mine, "rows of the inputs"));
    }
    GE_ASSIGN_OR_RETURN(const Dim more, VectorizedColumns(c, i));
    GE_ASSIGN_OR_RETURN(columns, Checked(c.node(), c.dims().Add(columns, more), "columns"));
  }
  if (!rows) rows = c.FreshDim("rows", false);
  return SetTensor(c, 0, DType::kFloat, {*rows, columns});
}

}  // namespace

// The inputs side by side, each cut or filled with zeros to its stated width.
GE_OP(onnx_ml_feature_vectorizer) = {"ai.onnx.ml",
                                     "FeatureVectorizer",
                                     1,
                                     {{"X", kFeatures, "T1", Arity::kVariadic}},
                                     {{"Y", Bit(DType::kFloat)}},
                                     {{"inputdimensions", AttrKind::kInts}},
                                     InferFeatureVectorizer,
                                     PerOutput<0>};

}  // namespace ge
