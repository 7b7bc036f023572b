#include <fmt/format.h>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferNormalizer(InferContext& c) {
  const std::string_view norm = AttrString(c.node(), "norm");
  if (norm != "MAX" && norm != "L1" && norm != "L2") {
    return Bad(c.node(), fmt::format("attribute 'norm' is '{:.64}', wanted MAX, L1 or L2", norm));
  }
  GE_RETURN_IF_ERROR(RowsOfFeatures(c).status());
  Type y = c.input_type(0);
  y.dtype = DType::kFloat;
  c.SetOutput(0, std::move(y));
  return {};
}

}  // namespace

// Each row divided by its greatest element, its sum of magnitudes or its length.
GE_OP(onnx_ml_normalizer) = {"ai.onnx.ml",
                             "Normalizer",
                             1,
                             {{"X", kFeatures, "T"}},
                             {{"Y", Bit(DType::kFloat)}},
                             {{"norm", AttrKind::kString, "MAX"}},
                             InferNormalizer,
                             PerOutput<4>};

}  // namespace ge
