// The numbers of finished plans, as the fields of a report; see ge_session_report in ge.h.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge {

// Sums over the plans, and the times of the first.
nlohmann::json PlanReport(const std::vector<std::shared_ptr<Compiled>>& plans, PriceMode mode);

// Fields of the whole process: threads and instruction set, work shared out by the pool and how
// often its threads slept (compute_pool.h), packed constants shared by plans.
void AddProcess(nlohmann::json* json);

}  // namespace ge
