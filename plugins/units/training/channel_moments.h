// ge.ChannelMoments. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// ge.ChannelMoments; in: x; out: mean, variance
struct MomentsSpec {
  static const UnitKind kKind;
};

}  // namespace ge_engines
