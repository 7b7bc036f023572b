// Payloads of constants that a graph in our format keeps in files beside it. Thread-safe.
#pragma once

#include <span>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Maps the graph's payloads in files beneath `folder`; refuses them by name without a folder.
// Symbolic links may lead beneath it and beneath `roots`. Checks a stated digest.
Status OpenExternals(Graph* graph, const std::string& folder,
                     std::span<const std::string> roots = {});

}  // namespace ge
