// Reshape: a plan for other dims of the same structure, from one that is finished: placed as that
// one, compiled by asking its execs for others like them (ge_engine_api.shape), so that engines are
// asked for no prices. Everything behind is planned and checked as for any plan.
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

// `like` as PLACE left it, but for its report, for a function of other dims; what was predicted for
// the dims of `like` stands. Nothing where the two are not the same nodes, wired in the same way,
// or an engine cannot reshape.
std::optional<Plan> PlacedLike(const Compiled& like, const EngineList& engines,
                               const Function& function, const std::string& method);

// What PARTITION would make of such a plan, from what it made of `like`: no size decides anything
// where all values are plain and in host memory, nothing is brought anywhere and no state is
// overwritten. False, and nothing done, where there is more to it.
bool PartitionLike(const Compiled& like, const Function& function, Plan* plan);

// What the nodes of such a plan are called, and the notes on them. One for all plans that are
// shaped like `like`, where they say the same.
std::shared_ptr<const std::vector<NodeReport>> ReportLike(const Compiled& like,
                                                          const Function& function,
                                                          const DecompositionNotes& notes);

// Whether PARTITION made of both the same segments, with the same values and layouts at their
// borders.
bool SameSegments(const PlanFunction& left, const PlanFunction& right);

}  // namespace ge
