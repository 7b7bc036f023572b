// The sizes of thresholds.def as constants. Plain values; any thread.
#pragma once

#include <cstdint>

namespace ge_engines::cpu {

#define GE_THRESHOLD(name, value) inline constexpr int64_t name = value;
#include "plugins/cpu/kit/thresholds.def"
#undef GE_THRESHOLD

}  // namespace ge_engines::cpu
