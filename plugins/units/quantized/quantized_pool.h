// MaxPool of 8-bit integers (that of float32: reduce/pool.h). Pure; any thread.
#pragma once

#include "plugins/units/reduce/pool.h"
#include "plugins/units/unit.h"

namespace ge_engines {

struct QuantizedPoolSpec {  // MaxPool of 8-bit integers
  PoolSpec pool;
  static const UnitKind kKind;
};

}  // namespace ge_engines
