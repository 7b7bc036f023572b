#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferBinarizer(InferContext& c) { return InferSame(c); }

}  // namespace

// 1 where an element is greater than the threshold, else 0.
GE_OP(onnx_ml_binarizer) = {"ai.onnx.ml",
                            "Binarizer",
                            1,
                            {{"X", kFeatures, "T"}},
                            {{"Y", kFeatures, "T"}},
                            {{"threshold", AttrKind::kFloat, 0.0f}},
                            InferBinarizer,
                            PerOutput<1>};

}  // namespace ge
