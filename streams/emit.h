// Emit: writes a schedule into a function: its streams, events, and code with the fewest signals
// and waits for ordering every dependence. Thread-safe.
#pragma once

#include "ge/plan/plan.h"
#include "streams/schedule.h"

namespace ge::streams {

void Emit(const Plan& plan, const std::vector<Task>& tasks, const Schedule& schedule,
          PlanFunction* function);

}  // namespace ge::streams
