// ConvInteger and QLinearConv. Pure; any thread.
#pragma once

#include "plugins/units/conv/conv.h"
#include "plugins/units/quantized/inputs.h"
#include "plugins/units/unit.h"

namespace ge_engines {

struct IntegerConvSpec {
  ConvSpec conv;
  QuantizedRange range;
  static const UnitKind kKind;
};

}  // namespace ge_engines
