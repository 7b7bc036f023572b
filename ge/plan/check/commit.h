// Commit: whether a run that fails or is cancelled leaves what it was to overwrite as it was.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/plan/check/accesses.h"
#include "ge/plan/check/timeline.h"
#include "ge/plan/plan.h"

namespace ge::check {

// An output that claims the place of an input is written behind the one commit, by a segment that
// cannot fail and that permits it, when every other use of the input is over; behind a commit is
// nothing that can fail, and before it everything that can is done. INTERNAL naming what is not so.
// Needs a function whose structure and accesses are checked.
Status CheckCommit(const Plan& plan, const PlanFunction& function, const Timeline& timeline,
                   const std::vector<Access>& access);

}  // namespace ge::check
