// The host's records of the layouts that a LayoutTag names, and back. Pure; any thread.
#pragma once

#include <optional>

#include "ge/ge_plugin.h"
#include "plugins/units/layout.h"

namespace ge_engines {

// The record of a layout that is not plain, of 3 to kMaxRank axes; lives for ever. nullptr where
// there is none.
const ge_layout* TaggedLayout(const LayoutTag& tag, size_t rank);

// The tag of a host's layout of `rank` axes; nullopt if no tag describes it.
std::optional<LayoutTag> LayoutTagOf(const ge_layout& layout, size_t rank);

}  // namespace ge_engines
