// QuantizeLinear and DequantizeLinear of 16-bit integers, and DequantizeLinear of int32. Pure; any
// thread.
#pragma once

#include "plugins/units/quantized/quantize_linear.h"

namespace ge_engines {

struct WideQuantizeSpec {  // in: x, scale, zero or 0
  QuantGrid grid;
  static const UnitKind kKind;
};
struct WideDequantizeSpec {  // the same
  QuantGrid grid;
  static const UnitKind kKind;
};

}  // namespace ge_engines
