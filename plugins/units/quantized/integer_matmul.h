// MatMulInteger and QLinearMatMul. Pure; any thread.
#pragma once

#include "plugins/units/quantized/inputs.h"
#include "plugins/units/unit.h"

namespace ge_engines {

struct IntegerProductSpec {
  bool transposed = false;  // weights are [n][k]
  // The second operand is no constant; it may have batches, those of the first. One zero point.
  bool computed = false;
  QuantizedRange range;
  static const UnitKind kKind;
};

}  // namespace ge_engines
