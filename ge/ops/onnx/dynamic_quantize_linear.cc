#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferDynamicQuantizeLinear(InferContext& c) {
  Type t = c.input_type(0);
  t.dtype = DType::kUint8;
  c.SetOutput(0, std::move(t));
  if (c.has_output(1)) GE_RETURN_IF_ERROR(SetTensor(c, 1, DType::kFloat, {}));
  if (c.has_output(2)) GE_RETURN_IF_ERROR(SetTensor(c, 2, DType::kUint8, {}));
  return {};
}

}  // namespace

// Eight unsigned bits whose scale and zero point follow from the tensor's range, zero included.
GE_OP(dynamic_quantize_linear) = {"",
                                  "DynamicQuantizeLinear",
                                  11,
                                  {{"x", Bit(DType::kFloat), "T1"}},
                                  {{"y", Bit(DType::kUint8), "T2"},
                                   {"y_scale", Bit(DType::kFloat)},
                                   {"y_zero_point", Bit(DType::kUint8), "T2"}},
                                  {},
                                  InferDynamicQuantizeLinear,
                                  PerInput<5>};

}  // namespace ge
