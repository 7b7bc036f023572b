// MEMORY: lifetimes under happens-before -> (arena, offset), aliases and workspace.
// Runs after STREAMS; a place is reused across streams only where events order it.
#pragma once

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge {

struct MemoryOptions {
  int64_t gap_bytes = 0;  // between blocks; tests use it as a red zone
  bool reuse = true;      // false: every value has its own place
  // An arena within 5 % of what is live at once will do, where 0.4 % would take milliseconds: for
  // plans that live in blocks that other plans use as well.
  bool quick = false;
};

// Fills PlanValue::{arena, offset, alias_of} and PlanFunction::arenas: one transient arena for each
// domain that needs one; arenas of other uses stay. Raises PlanDomain::align to the greatest
// alignment of a value that it places there: RUN allocates blocks at that alignment.
// LIMIT_EXCEEDED when a domain's total is beyond what fits in 63 bits.
Status AssignMemory(Plan* plan, const MemoryOptions& options = {});

}  // namespace ge
