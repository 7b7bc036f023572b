#include <fmt/format.h>

#include "ge/ops/families/maps.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferZipMap(InferContext& c) {
  const Node& n = c.node();
  const size_t ints = ListLength(n, "classlabels_int64s");
  const size_t texts = ListLength(n, "classlabels_strings");
  if ((ints > 0) == (texts > 0)) {
    return Bad(n, fmt::format("attributes 'classlabels_int64s' and 'classlabels_strings' have {} "
                              "and {} entries, wanted keys in one of them",
                              ints, texts));
  }
  GE_RETURN_IF_ERROR(RowsOfFeatures(c).status());
  const auto columns = FeatureCount(c);
  if (columns && *columns != static_cast<int64_t>(ints + texts)) {
    return Bad(n, fmt::format("input 'X' has {} columns, wanted {}, one for each class label",
                              *columns, ints + texts));
  }
  c.SetOutput(0, SequenceType(MapType(texts > 0 ? DType::kString : DType::kInt64, DType::kFloat)));
  return {};
}

}  // namespace

// Each row as a map from class labels to its elements.
GE_OP(onnx_ml_zip_map) = {
    "ai.onnx.ml",
    "ZipMap",
    1,
    {{"X", Bit(DType::kFloat)}},
    {{"Z", kAnyType}},
    {{"classlabels_int64s", AttrKind::kInts}, {"classlabels_strings", AttrKind::kStrings}},
    InferZipMap,
    PerOutput<0>};

}  // namespace ge
