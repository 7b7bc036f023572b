// Elementwise functions, means and Concat of 8-bit tensors. quantized_group.h makes them of groups
// between DequantizeLinear and QuantizeLinear. Plain values.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/units/quantized/inputs.h"
#include "plugins/units/unit.h"

namespace ge_engines {

struct QuantizedPairSpec {  // in: a of the result's dims, b; a + b, a - b or a * b
  Fn fn = Fn::kAdd;
  bool channels = false;  // b has one element for each image and channel, else a's dims
  QuantizedScale a, b, y;
  QuantizedRange range;
  static const UnitKind kKind;
};
// in: x as [outer][middle][inner], one constant float for each of the middle; x fn it.
struct QuantizedConstantSpec {
  Fn fn = Fn::kAdd;  // or kSub, kRSub, kMul, kDiv
  int64_t outer = 1, middle = 1, inner = 1;
  QuantizedScale x, y;
  QuantizedRange range;
  static const UnitKind kKind;
};
struct QuantizedMapSpec {  // in: x; post-ops without operands, by a table
  QuantizedScale x, y;
  QuantizedRange range;
  static const UnitKind kKind;
};
struct QuantizedMeanSpec {  // in: x; the mean of all axes behind the second
  QuantizedScale x, y;
  QuantizedRange range;
  static const UnitKind kKind;
};
struct QuantizedConcatSpec {
  int axis = 0;
  std::vector<QuantizedScale> x;
  QuantizedScale y;
  static const UnitKind kKind;
};

}  // namespace ge_engines
