// Words for the prover's messages: names of values, instructions and faults. Pure functions of the
// plan; they never fail, for any ids.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge::check {

std::string ValueText(const PlanFunction& function, PlanValueId value);  // value 't5'
std::string InstructionText(const PlanFunction& function,
                            uint32_t instruction);  // instruction 3 (copy ...
std::string PlaceText(const PlanFunction& function, PlanValueId plan_value);  // arena 0 [64, 128)

// An INTERNAL status: a failing plan is our own bug, never the user's.
Status Fault(const PlanFunction& function, const std::string& what);

}  // namespace ge::check
