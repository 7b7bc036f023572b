#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"
#include "ge/ops/onnx/mat_mul.h"

namespace ge {
namespace {

Status InferMatMulIntegerToFloat(InferContext& c) {
  const Type& b = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(b, 2, "MatMulIntegerToFloat: input 'B'"));
  const Dim columns = b.ranked ? b.dims.back() : c.FreshDim("columns", false);
  GE_RETURN_IF_ERROR(WantOne(c, 2, "a_scale"));
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 3, "b_scale", columns));
  GE_RETURN_IF_ERROR(WantOne(c, 4, "a_zero_point"));
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 5, "b_zero_point", columns));
  GE_RETURN_IF_ERROR(WantVector(c, 6, "bias", columns));
  return InferMatrixProduct(c, 1, c.input_type(2).dtype);
}

std::vector<ValueId> DecomposeMatMulIntegerToFloat(Transaction& t, FunctionId fn,
                                                   const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(2)), step = StepDType(wanted);
  const ValueId product = s.Cast(s.IntegerProduct(s.In(0), s.In(1), s.In(4), s.In(5)), step);
  const ValueId scale = s.Pair("Mul", s.Cast(s.In(2), step), s.Cast(s.In(3), step));
  return {s.Cast(s.PairIf("Add", s.Pair("Mul", product, scale), s.In(6)), wanted)};
}

OpDef MatMulIntegerToFloatRecord() {
  OpDef op = MicrosoftRecord("MatMulIntegerToFloat", InferMatMulIntegerToFloat,
                             DecomposeMatMulIntegerToFloat);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = Bit(DType::kFloat) | Bit(DType::kFloat16);
  op.inputs = {{"A", kBytes, "T1"},
               {"B", kBytes, "T2"},
               {"a_scale", kReal, "T3"},
               {"b_scale", kReal, "T3"},
               {"a_zero_point", kBytes, "T1", opt},
               {"b_zero_point", kBytes, "T2", opt},
               {"bias", kReal, "T3", opt}};
  op.outputs = {{"Y", kReal, "T3"}};
  return op;
}

}  // namespace

// The product of quantized matrices, scaled to floats and biased.
GE_OP(microsoft_mat_mul_integer_to_float) = MatMulIntegerToFloatRecord();

}  // namespace ge
