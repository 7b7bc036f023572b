// Groups of 8-bit integers (QDQ): an operator on floats that DequantizeLinear makes of codes and
// whose result goes, behind Relu or Clip maybe, to QuantizeLinear alone. Each is one unit, which
// reads codes and makes codes; scales and zero points are constants. Pure; any thread.
#pragma once

#include "plugins/units/parser.h"

namespace ge_engines {

// The group that ends in this QuantizeLinear; false where it ends none.
bool QuantizedGroup(const Parser& parser, uint32_t quantize, Unit* unit);
// Whether a node is of no use to this engine by itself, but may be part of such a group.
bool JoinsQuantizedGroup(const Unit& unit, const Parser& parser);

}  // namespace ge_engines
