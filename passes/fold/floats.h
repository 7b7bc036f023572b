// Reads small constants for passes: numbers of channels, not weights.
#pragma once

#include <optional>
#include <vector>

#include "ge/ir/graph.h"

namespace ge {

// The elements of an f32 constant, by position; nullopt when it is anything else, or has more than
// a million.
std::optional<std::vector<float>> FloatsOf(const Graph& graph, const Function& function,
                                           ValueId value);

}  // namespace ge
