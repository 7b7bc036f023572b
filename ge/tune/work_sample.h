// A graph of typical work: single operators and the usual patterns at a few sizes, none of them
// from a known model. Engines' times for it show their price errors on this machine; see
// probe_engines.h. Nobody runs it as a whole. Stateless.
#pragma once

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// One entry "main" whose types are all known; about a hundred and forty nodes, 1 MB of constants.
Result<Graph> MakeWorkSample();

}  // namespace ge
