// Gelu of the sum of a tensor and a bias, shared by BiasGelu and FastGelu. Not an operator. Any
// thread may call.
#pragma once

#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {

// The bias is a vector over the last axis.
inline Status InferBiasedGelu(InferContext& context, const char* bias) {
  const Type& x = context.input_type(0);
  if (HasInput(context, 1)) {
    GE_RETURN_IF_ERROR(WantRank(x, 1, "{}: input 0", context.node().op));
    const Dim last = x.ranked ? x.dims.back() : context.FreshDim("channels", false);
    GE_RETURN_IF_ERROR(WantVector(context, 1, bias, last));
  }
  return InferSame(context);
}

// The sum is not rounded to 16 bits in between.
inline std::vector<ValueId> DecomposeBiasedGelu(Transaction& transaction, FunctionId fn,
                                                const Node& node, const char* approximate) {
  Parts p(&transaction, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype;
  ValueId x = node.inputs[0];
  if (node.inputs.size() > 1 && node.inputs[1] != 0) {
    x = p.Cast(x, StepDType(wanted));
    x = p.Add("Add", {x, p.Cast(node.inputs[1], StepDType(wanted))}, p.TypeOf(x));
  }
  x = p.Add("Gelu", {x}, p.TypeOf(x), {{"approximate", std::string(approximate)}});
  return {p.Cast(x, wanted)};
}

}  // namespace ge
