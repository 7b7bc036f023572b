// Random graphs of common model operators, with well-behaved numbers: outputs do not jump when an
// input moves a little. The same seed gives the same graph. Any thread.
#pragma once

#include <string>

#include "net.h"

namespace ge::conform {

enum class Flavour { kElementwise, kProducts, kConvolutions, kReductions, kMoves, kMixed };
inline constexpr int kFlavours = 6;
const char* NameOf(Flavour flavour);
Sample RandomSample(Flavour flavour, uint64_t seed);

// The graph in the text form of GraphEngine, as ge.h loads it.
std::string TextOf(const mock::Graph& graph);

}  // namespace ge::conform
