#include <fmt/format.h>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Indices that are known now; the others are checked when the node runs.
Status CheckFeatureIndices(InferContext& c, Dim size) {
  const auto indices = Content(c, 1);
  if (!indices || !size.known()) return {};
  for (const Dim& d : *indices) {
    if (!d.known() || (d.value >= 0 && d.value < size.value)) continue;
    return Bad(c.node(),
               fmt::format("input 'Y' holds {}, wanted 0 to {}: the last axis has size {}", d.value,
                           size.value - 1, size.value));
  }
  return {};
}

Status InferArrayFeatureExtractor(InferContext& c) {
  const Type &x = c.input_type(0), &y = c.input_type(1);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 1, "ArrayFeatureExtractor: input 'X'"));
  GE_RETURN_IF_ERROR(CheckFeatureIndices(c, x.dims.back()));
  Dim picked = KnownDim(1);
  for (const Dim& d : y.dims) {
    GE_ASSIGN_OR_RETURN(picked, Checked(c.node(), c.dims().Mul(picked, d), "indices"));
  }
  if (!y.ranked) picked = c.FreshDim("picked", false);
  std::vector<Dim> dims = x.dims;
  // What is picked of a vector is one row.
  if (dims.size() == 1) dims.insert(dims.begin(), KnownDim(1));
  dims.back() = picked;
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

}  // namespace

// The elements at the given places of the last axis.
GE_OP(onnx_ml_array_feature_extractor) = {
    "ai.onnx.ml",
    "ArrayFeatureExtractor",
    1,
    {{"X", kFeatures | Bit(DType::kString), "T"}, {"Y", Bit(DType::kInt64)}},
    {{"Z", kFeatures | Bit(DType::kString), "T"}},
    {},
    InferArrayFeatureExtractor,
    PerOutput<0>};

}  // namespace ge
