// QLinearAdd and QLinearMul: an elementwise operator with quantized operands and a quantized
// result. Not an operator. Any thread may call.
#pragma once

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

inline Status InferQLinearPair(InferContext& context) {
  const char* names[] = {"A",       "A_scale",      "A_zero_point", "B",
                         "B_scale", "B_zero_point", "C_scale",      "C_zero_point"};
  for (size_t i : {1u, 2u, 4u, 5u, 6u, 7u}) GE_RETURN_IF_ERROR(WantOne(context, i, names[i]));
  const Type &a = context.input_type(0), &b = context.input_type(3);
  if (!a.ranked || !b.ranked) {
    context.SetOutput(0, UnrankedTensor(a.dtype));
    return {};
  }
  const std::vector<Dim> shapes[] = {a.dims, b.dims};
  GE_ASSIGN_OR_RETURN(std::vector<Dim> dims, BroadcastDims(context, shapes));
  return SetTensor(context, 0, a.dtype, std::move(dims));
}

inline std::vector<ValueId> DecomposeQLinearPair(Transaction& transaction, FunctionId fn,
                                                 const Node& node, const char* op) {
  if (!Steps::Ready(transaction, fn, node)) return {};
  Steps s(transaction, fn, node);
  const ValueId a = s.Dequantize(s.In(0), s.In(1), s.In(2));
  const ValueId b = s.Dequantize(s.In(3), s.In(4), s.In(5));
  return {s.Quantize(s.Pair(op, a, b), s.In(6), s.In(7), s.DTypeOf(s.In(0)))};
}

inline OpDef QLinearPairRecord(const char* name,
                               std::vector<ValueId> (*decompose)(Transaction&, FunctionId,
                                                                 const Node&)) {
  OpDef op = MicrosoftRecord(name, InferQLinearPair, decompose);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kScale = Bit(DType::kFloat);
  op.inputs = {{"A", kBytes, "T"},
               {"A_scale", kScale},
               {"A_zero_point", kBytes, "T", opt},
               {"B", kBytes, "T"},
               {"B_scale", kScale},
               {"B_zero_point", kBytes, "T", opt},
               {"C_scale", kScale},
               {"C_zero_point", kBytes, "T", opt}};
  op.outputs = {{"C", kBytes, "T"}};
  return op;
}

}  // namespace ge
