// ge.KvAppend: new rows of a cache of keys or values. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct AppendSpec {  // in: cache, length, new rows
  int axis = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
