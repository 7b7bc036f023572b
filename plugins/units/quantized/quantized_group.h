// Groups of 8-bit integers (QDQ): DequantizeLinear, an operator on floats, maybe Relu or Clip, then
// QuantizeLinear, the only reader of the operator's result. Each group is one unit. It reads and
// writes quantized values; scales and zero points are constants. Pure; any thread.
#pragma once

#include "plugins/units/parser.h"

namespace ge_engines {

// Sets *unit to the group that ends in this QuantizeLinear; false if there is none.
bool QuantizedGroup(const Parser& parser, uint32_t quantize, Unit* unit);
// Whether this engine has no use for the node alone, but takes it as part of such a group.
bool JoinsQuantizedGroup(const Unit& unit, const Parser& parser);

}  // namespace ge_engines
