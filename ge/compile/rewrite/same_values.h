// Tests whether two graphs give the same values: GE_CHECK_PASSES=1 asks after each pass that must
// keep them. It tries made-up inputs and proves nothing.
#pragma once

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/engine/engine.h"
#include "ge/ir/graph.h"

namespace ge {

// Runs each entry of both on the same inputs and states, drawn by a fixed seed, with small numbers
// for free sizes. INTERNAL names entry, output and the first element that differs by more than
// rounding explains. Skips, and names in the log, an entry that it cannot run, before or after:
// control flow, data-dependent sizes, inputs refused by the model.
Status SameValues(const Graph& before, const Graph& after, const EngineList& engines,
                  const BuildOptions& options);

}  // namespace ge
