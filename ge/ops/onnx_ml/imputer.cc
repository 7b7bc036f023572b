#include <fmt/format.h>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferImputer(InferContext& c) {
  const Type& x = c.input_type(0);
  const Node& n = c.node();
  const bool real = IsFloat(x.dtype);
  const char* mine = real ? "imputed_value_floats" : "imputed_value_int64s";
  const char* other = real ? "imputed_value_int64s" : "imputed_value_floats";
  const size_t found = ListLength(n, mine);
  if (found == 0 || ListLength(n, other) > 0) {
    return Bad(n, fmt::format("attribute '{}' has {} entries and '{}' {}, wanted values for {} in "
                              "the first alone",
                              mine, found, other, ListLength(n, other), DTypeName(x.dtype)));
  }
  const auto features = FeatureCount(c);
  if (found != 1 && features && static_cast<int64_t>(found) != *features) {
    return Bad(n, fmt::format("attribute '{}' has {} entries, wanted 1 or {}, one for each feature",
                              mine, found, *features));
  }
  return InferSame(c);
}

}  // namespace

// What equals one value is replaced by another, which may differ between features.
GE_OP(onnx_ml_imputer) = {"ai.onnx.ml",
                          "Imputer",
                          1,
                          {{"X", kFeatures, "T"}},
                          {{"Y", kFeatures, "T"}},
                          {{"imputed_value_floats", AttrKind::kFloats},
                           {"imputed_value_int64s", AttrKind::kInts},
                           {"replaced_value_float", AttrKind::kFloat, 0.0f},
                           {"replaced_value_int64", AttrKind::kInt, 0}},
                          InferImputer,
                          PerOutput<1>};

}  // namespace ge
