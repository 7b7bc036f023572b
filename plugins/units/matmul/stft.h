// STFT of real samples. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

struct SpectrumSpec {  // STFT of real samples; in: samples, then the window or nothing
  int64_t step = 1, length = 1;
  static const UnitKind kKind;
};

}  // namespace ge_engines
