// Reshape: a plan for other dims of the same structure, from one that is finished: placed as that
// one, compiled by asking its execs for others like them (ge_engine_api.shape), so that engines are
// asked for no prices. Everything behind is planned and checked as for any plan.
#pragma once

#include <optional>
#include <string>

#include "ge/compile/compiled.h"
#include "ge/ir/graph.h"
#include "ge/plan/plan.h"

namespace ge {

// `like` as PLACE left it, for a function of other dims; what was predicted for the dims of `like`
// stands. Nothing where the two are not the same nodes, wired in the same way, or an engine cannot
// reshape.
std::optional<Plan> PlacedLike(const Compiled& like, const EngineList& engines, const Function& f,
                               const std::string& method);

// Whether PARTITION made of both the same segments, with the same values and layouts at their
// borders.
bool SameSegments(const PlanFunction& a, const PlanFunction& b);

}  // namespace ge
