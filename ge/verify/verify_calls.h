// One node against the functions that it names, as VERIFY checks it; for who makes nodes one by
// one.
#pragma once

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Ids, signatures, branches of one type. Reads only.
Status VerifyCalls(const Graph& graph, const Function& function, const Node& node);

}  // namespace ge
