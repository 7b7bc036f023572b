// Gather along one axis, and ArrayFeatureExtractor of ai.onnx.ml. Pure; any thread.
#pragma once

#include "plugins/units/parser.h"

namespace ge_engines {

struct GatherSpec {  // in: data, indices
  int axis = 0;
  bool backwards = true;  // negative indices count from the end
  static const UnitKind kKind;
};

// Whether indices into `size` elements are not known to be out of range. *backwards: whether one
// may count from the end.
bool MayIndex(const Parser& parser, uint32_t indices, int64_t size, bool* backwards);

}  // namespace ge_engines
