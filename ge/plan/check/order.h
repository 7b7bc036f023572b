// Order: every segment runs after those in its `after`, though it reads no output of theirs.
#pragma once

#include "ge/base/status.h"
#include "ge/plan/check/timeline.h"
#include "ge/plan/plan.h"

namespace ge::check {

// INTERNAL naming two unordered launches, or an `after` out of range. Needs a function whose
// segments are launched once each (CollectAccesses).
Status CheckOrder(const PlanFunction& function, const Timeline& timeline);

}  // namespace ge::check
