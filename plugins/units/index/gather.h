// Gather along one axis, and ArrayFeatureExtractor of ai.onnx.ml. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

struct GatherSpec {  // in: data, indices
  int axis = 0;
  bool backwards = true;  // negative indices count from the end
  static const UnitKind kKind;
};

}  // namespace ge_engines
