// Normalizer of ai.onnx.ml. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

enum class RowNorm : uint8_t { kMax, kL1, kL2 };
struct RowNormSpec {  // each row of in[0] by its greatest element, sum of magnitudes or length
  RowNorm norm = RowNorm::kMax;
  int64_t rows = 0, n = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
