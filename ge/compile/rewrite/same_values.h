// Whether two graphs give the same values: what GE_CHECK_PASSES=1 asks after each pass that is to
// keep them. A try on made-up inputs, not a proof.
#pragma once

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/engine/engine.h"
#include "ge/ir/graph.h"

namespace ge {

// Runs each entry of both on the same inputs and states, drawn by a fixed seed; sizes that are free
// become small ones. INTERNAL naming entry, output and the first element that is off by more than
// rounding explains. An entry that cannot be run so, before or after, is passed over and named in
// the log: control flow, sizes that the data decide, inputs that the model refuses.
Status SameValues(const Graph& before, const Graph& after, const EngineList& engines,
                  const BuildOptions& options);

}  // namespace ge
