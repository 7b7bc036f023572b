// Order: whether every segment runs after those that it names, though it reads nothing of theirs.
#pragma once

#include "ge/base/status.h"
#include "ge/plan/check/timeline.h"
#include "ge/plan/plan.h"

namespace ge::check {

// INTERNAL naming the two launches that nothing orders, or an `after` that is out of range. Needs a
// function whose segments are launched once each (CollectAccesses).
Status CheckOrder(const PlanFunction& function, const Timeline& timeline);

}  // namespace ge::check
