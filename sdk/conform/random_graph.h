// Random graphs of the operators that models are made of, with well-behaved numbers: what comes out
// does not jump when an input moves a little. The same for the same seed. Any thread.
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
