// Analytic price of one node in the reference engine, in ns of one core: work divided by the speed
// of its class of loops. Not measured on the user's machine; the host corrects it. Pure.
#pragma once

#include <cstdint>

#include "plugins/ref/kernel.h"

namespace ref {

// Host time of one launch of any exec.
inline constexpr uint64_t kLaunchNs = 60;

uint64_t MarginalNs(const NodeView& node);

}  // namespace ref
