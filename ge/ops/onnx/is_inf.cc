#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferIsInf(InferContext& c) {
  Type type = c.input_type(0);
  type.dtype = DType::kBool;
  c.SetOutput(0, std::move(type));
  return {};
}

}  // namespace

// Whether x is infinite, of the signs that are asked for.
GE_OP(is_inf) = {"",
                 "IsInf",
                 20,
                 {{"X", kFloats | kFloat8s, "T1"}},
                 {{"Y", Bit(DType::kBool), "T2"}},
                 {{"detect_negative", AttrKind::kInt, 1}, {"detect_positive", AttrKind::kInt, 1}},
                 InferIsInf,
                 PerOutput<1>};

}  // namespace ge
