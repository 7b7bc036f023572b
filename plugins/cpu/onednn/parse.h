// The operators that this engine knows beside those of kit/. Pure; any thread.
#pragma once

#include <span>

#include "plugins/cpu/kit/unit.h"

namespace ge_engines::cpu::onednn {

std::span<const Operator> OwnOperators();

}  // namespace ge_engines::cpu::onednn
