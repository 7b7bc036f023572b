// Which inputs of a segment may lie where its outputs do. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/units/parser.h"

namespace ge_engines {

// A unit that is all of its segment and reads inputs just where it writes; nullptr where there is
// none.
const Unit* InPlaceUnit(const std::vector<Unit>& units);

// Of such a unit: pairs of an output and an input that may lie in its place, by their positions in
// the segment.
std::vector<uint32_t> AliasesOf(const Parser& parser, const ge_segment& segment, const Unit& unit);

}  // namespace ge_engines
