// The results of rehearsals on this machine: later sessions of the same model, shapes and engines
// begin with the plan that was fastest in whole runs. One file in the cache folder beside the
// prices: JSON; stale rows are forgotten, a damaged file is put aside. It makes no plans.
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/engine/engine.h"
#include "ge/ir/graph.h"
#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// Equal for graphs with the same nodes and shapes (payloads of large constants do not count), the
// same plugins, devices and options, and the same machine, ISA and threads.
std::string QuestionOf(const Graph& bound, const EngineList& engines);

// Whether anything is kept on this machine: otherwise the questions need not be made.
bool AnyRehearsed();

// The placement for PLACE to repeat, offer by offer: changed prices do not change the plan. No
// cover when nothing is kept.
PlaceOptions FindRehearsed(const std::string& question);

// Does nothing if no cache folder can be written.
void KeepRehearsed(const std::string& question, const Plan& plan,
                   const std::vector<NodeId>& expanded);

}  // namespace ge
