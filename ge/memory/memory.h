// MEMORY: lifetimes under happens-before -> (arena, offset), aliases and workspace.
// Runs after STREAMS; a place is reused across streams only where events order it.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge {

struct MemoryOptions {
  int64_t gap_bytes = 0;  // between blocks; tests use it as a red zone
  bool reuse = true;      // false: every value has its own place
  // Accepts an arena within 5 % of the live maximum, where 0.4 % would take milliseconds: for plans
  // in blocks that other plans use as well.
  bool quick = false;
  // Values that share their bytes with no other, whatever they permit: for finding the one that is
  // overwritten. Numbers of no value are ignored.
  std::vector<PlanValueId> own_places = {};
};

// Fills PlanValue::{arena, offset, alias_of} and PlanFunction::arenas: one transient arena for each
// domain in need of one; arenas of other uses stay. Raises PlanDomain::align to the greatest
// alignment of a value placed there: RUN allocates blocks at that alignment. LIMIT_EXCEEDED when a
// domain's total does not fit in 63 bits.
Status AssignMemory(Plan* plan, const MemoryOptions& options = {});

}  // namespace ge
