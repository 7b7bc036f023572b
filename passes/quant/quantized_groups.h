// Quantized groups: an operator that reads 8-bit values through DequantizeLinear and whose result
// goes to QuantizeLinear, as quantizers write them (QDQ). An engine may compute one in integers;
// the passes only leave it so that it can be seen. Reads the graph that a transaction edits; one
// thread.
#pragma once

#include "ge/ops/edit.h"

namespace ge {

// Whether nothing but QuantizeLinear reads the node's one result, by itself or behind Relu or Clip.
bool IsQuantized(Transaction& transaction, FunctionId fn, const Node& n);
// Whether the node dequantizes a constant that is the weight or bias of a product of codes: of a
// Conv, Gemm or MatMul which IsQuantized, alone reads it, and reads codes.
bool IsQuantizedWeight(Transaction& transaction, FunctionId fn, const Node& n);

}  // namespace ge
