// Structure: checks of a plan without a notion of time: ids in range, sizes, alignment, places
// inside their arenas, devices of instructions, kinds of values in their roles, alias claims. After
// it answers OK the other parts of the prover index without checks.
#pragma once

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge::check {

// The plan's own tables: engines, devices, domains, links, layouts.
Status CheckTables(const Plan& plan);
// Values, segments, arenas, streams, events and signature of one function.
Status CheckFunction(const Plan& plan, const PlanFunction& function);
// Its instructions. UNSUPPORTED for control flow: no executor has it yet.
Status CheckInstructions(const Plan& plan, const PlanFunction& function);

// True when the launch of `output`'s segment may write it over `input`: every position at which the
// segment reads `input` has a permission. Other positions holding the same value without one would
// read overwritten bytes.
bool MayOverwrite(const PlanSegment& segment, PlanValueId output, PlanValueId input);

}  // namespace ge::check
