// Reshape: derives a plan for other dims from a finished plan of the same structure. It keeps the
// placement and asks the execs for others like them (ge_engine_api.shape), so engines are asked for
// no prices. The stages behind COMPILE plan and check it like any plan.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ge/compile/compiled/compiled.h"
#include "ge/compile/decompose/decomposition.h"
#include "ge/ir/graph.h"
#include "ge/plan/plan.h"

namespace ge {

// The plan `like` as PLACE left it, without its report, for a function of other dims; predictions
// stay those for the dims of `like`. Nothing where the two have not the same nodes, wired in the
// same way, or an engine cannot reshape.
std::optional<Plan> PlacedLike(const Compiled& like, const EngineList& engines,
                               const Function& function, const std::string& method);

// Derives PARTITION's result for such a plan from that of `like`: no size decides anything where
// all values are plain and in host memory, nothing is transferred and no state is overwritten.
// False, and nothing done, in any other case.
bool PartitionLike(const Compiled& like, const Function& function, Plan* plan);

// Node names and notes for such a plan. All plans shaped like `like` share one report where they
// say the same.
std::shared_ptr<const std::vector<NodeReport>> ReportLike(const Compiled& like,
                                                          const Function& function,
                                                          const DecompositionNotes& notes);

// Whether PARTITION made the same segments of both, with the same values and layouts at their
// borders.
bool SameSegments(const PlanFunction& left, const PlanFunction& right);

}  // namespace ge
