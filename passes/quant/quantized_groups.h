// Quantized groups: an operator reading 8-bit values through DequantizeLinear, with
// QuantizeLinear behind its result, as quantizers write them (QDQ). An engine may compute one in
// integers; the passes only keep it recognisable. Reads the graph edited by a transaction; one
// thread.
#pragma once

#include "ge/ops/edit.h"

namespace ge {

// Whether only QuantizeLinear reads the node's one result, by itself or behind Relu or Clip.
bool IsQuantized(Transaction& transaction, FunctionId fn, const Node& n);
// Whether the node dequantizes a constant weight or bias of a quantized product: a Conv, Gemm or
// MatMul that IsQuantized, reads quantized values and is its only reader.
bool IsQuantizedWeight(Transaction& transaction, FunctionId fn, const Node& n);

}  // namespace ge
