#include <fmt/format.h>

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferCategoryMapper(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(WantLength(n, "cats_int64s", ListLength(n, "cats_strings"),
                                "one for each entry of cats_strings"));
  Type type = c.input_type(0);
  type.dtype = type.dtype == DType::kString ? DType::kInt64 : DType::kString;
  c.SetOutput(0, std::move(type));
  return {};
}

}  // namespace

// Texts become their numbers, numbers their texts.
GE_OP(onnx_ml_category_mapper) = {"ai.onnx.ml",
                                  "CategoryMapper",
                                  1,
                                  {{"X", Bit(DType::kString) | Bit(DType::kInt64), "T1"}},
                                  {{"Y", Bit(DType::kString) | Bit(DType::kInt64)}},
                                  {{"cats_int64s", AttrKind::kInts},
                                   {"cats_strings", AttrKind::kStrings},
                                   {"default_int64", AttrKind::kInt, -1},
                                   {"default_string", AttrKind::kString, "_Unused"}},
                                  InferCategoryMapper,
                                  PerOutput<0>};

}  // namespace ge
