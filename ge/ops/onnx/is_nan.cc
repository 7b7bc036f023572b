#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferIsNaN(InferContext& c) {
  Type type = c.input_type(0);
  type.dtype = DType::kBool;
  c.SetOutput(0, std::move(type));
  return {};
}

}  // namespace

// Whether x is no number.
GE_OP(is_nan) = {"",
                 "IsNaN",
                 20,
                 {{"X", kFloats | kFloat8s, "T1"}},
                 {{"Y", Bit(DType::kBool), "T2"}},
                 {},
                 InferIsNaN,
                 PerOutput<1>};

}  // namespace ge
