#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"
#include "ge/ops/onnx/mat_mul.h"

namespace ge {
namespace {

Status InferDynamicQuantizeMatMul(InferContext& c) {
  const Type& b = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(b, 2, "DynamicQuantizeMatMul: input 'B'"));
  const Dim columns = b.ranked ? b.dims.back() : c.FreshDim("columns", false);
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 2, "b_scale", columns));
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 3, "b_zero_point", columns));
  GE_RETURN_IF_ERROR(WantVector(c, 4, "bias", columns));
  return InferMatrixProduct(c, 1, c.input_type(0).dtype);
}

std::vector<ValueId> DecomposeDynamicQuantizeMatMul(Transaction& t, FunctionId fn,
                                                    const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Type codes = TensorType(DType::kUint8, s.ShapeOf(s.In(0)));
  const std::vector<ValueId> a = t.AddNode(
      fn, node.id, "", "DynamicQuantizeLinear", {s.In(0)}, {},
      {codes, TensorType(DType::kFloat, Steps::Shape{}), TensorType(DType::kUint8, Steps::Shape{})},
      {&node});
  const ValueId product = s.Cast(s.IntegerProduct(a[0], s.In(1), a[2], s.In(3)), DType::kFloat);
  const ValueId scaled = s.Pair("Mul", product, s.Pair("Mul", s.In(2), a[1]));
  return {s.PairIf("Add", scaled, s.In(4))};
}

OpDef DynamicQuantizeMatMulRecord() {
  OpDef op = MicrosoftRecord("DynamicQuantizeMatMul", InferDynamicQuantizeMatMul,
                             DecomposeDynamicQuantizeMatMul);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = Bit(DType::kFloat);
  op.inputs = {{"A", kReal, "T1"},
               {"B", kBytes, "T2"},
               {"b_scale", kReal, "T1"},
               {"b_zero_point", kBytes, "T2", opt},
               {"bias", kReal, "T1", opt}};
  op.outputs = {{"Y", kReal, "T1"}};
  return op;
}

}  // namespace

// A, quantized by its own range, times the quantized B; the result is scaled back and biased.
GE_OP(microsoft_dynamic_quantize_mat_mul) = DynamicQuantizeMatMulRecord();

}  // namespace ge
