// Operators of one quantized tensor computed in floats: X, its scale and zero point, then those of
// the result. Not an operator. Any thread may call.
#pragma once

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

inline Status CheckQLinearMap(InferContext& context) {
  const char* names[] = {"X", "X_scale", "X_zero_point", "Y_scale", "Y_zero_point"};
  for (size_t i = 1; i < 5; ++i) GE_RETURN_IF_ERROR(WantOne(context, i, names[i]));
  return {};
}

inline Status InferQLinearMap(InferContext& context) {
  GE_RETURN_IF_ERROR(CheckQLinearMap(context));
  return InferSame(context);
}

inline ValueId QLinearMapIn(Steps* steps) {
  return steps->Dequantize(steps->In(0), steps->In(1), steps->In(2));
}
inline ValueId QLinearMapOut(Steps* steps, ValueId y) {
  return steps->Quantize(y, steps->In(3), steps->In(4), steps->DTypeOf(steps->In(0)));
}

// An operator that keeps the shape.
inline std::vector<ValueId> DecomposeQLinearMap(Transaction& transaction, FunctionId fn,
                                                const Node& node, const char* op,
                                                std::vector<Attr> attrs) {
  if (!Steps::Ready(transaction, fn, node)) return {};
  Steps s(transaction, fn, node);
  return {QLinearMapOut(&s, s.Map(op, {QLinearMapIn(&s)}, std::move(attrs)))};
}

inline OpDef QLinearMapRecord(const char* name, Status (*infer)(InferContext&),
                              std::vector<ValueId> (*decompose)(Transaction&, FunctionId,
                                                                const Node&)) {
  OpDef op = MicrosoftRecord(name, infer, decompose);
  constexpr DTypeSet kScale = Bit(DType::kFloat);
  const Arity opt = Arity::kOptional;
  op.inputs = {{"X", kBytes, "T"},
               {"X_scale", kScale},
               {"X_zero_point", kBytes, "T", opt},
               {"Y_scale", kScale},
               {"Y_zero_point", kBytes, "T", opt}};
  op.outputs = {{"Y", kBytes, "T"}};
  return op;
}

}  // namespace ge
