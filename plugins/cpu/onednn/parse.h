// The operators that this engine knows beside those of kit/. Pure; any thread.
#pragma once

#include <span>

#include "plugins/cpu/kit/unit.h"

namespace ge_onednn {

std::span<const ge_cpu::Operator> OwnOperators();

}  // namespace ge_onednn
