// ge.Gradient, which stands in a graph until the plugin grad has put ordinary nodes in its place.
// Any thread may call.
#pragma once

#include "ge/ir/graph.h"

namespace ge {

inline bool IsGradient(const Node& node) { return node.domain == "ge" && node.op == "Gradient"; }

}  // namespace ge
