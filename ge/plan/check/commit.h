// Commit: checks that a failed or cancelled run leaves the inputs it was to overwrite unchanged.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/plan/check/accesses.h"
#include "ge/plan/check/timeline.h"
#include "ge/plan/plan.h"

namespace ge::check {

// An output in the place of an input is written behind the one commit, by an infallible segment
// with permission, when every other use of the input is over. Nothing behind a commit can fail;
// every instruction able to fail is done before it. INTERNAL naming the violation. Needs a function
// with checked structure and accesses.
Status CheckCommit(const PlanFunction& function, const Timeline& timeline,
                   const std::vector<Access>& access);

}  // namespace ge::check
