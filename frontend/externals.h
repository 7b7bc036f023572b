// Payloads of constants that a graph of ours keeps in files beside it. Thread-safe.
#pragma once

#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Maps the payloads that the graph keeps in files beneath `folder`; without a folder they are
// refused by name. A stated digest is checked.
Status OpenExternals(Graph* graph, const std::string& folder);

}  // namespace ge
