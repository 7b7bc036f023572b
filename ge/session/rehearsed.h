// What rehearsals found on this machine, so that later sessions of the same model, shapes and
// engines begin with the plan that was the fastest in earnest. One file in the cache folder beside
// the prices: JSON; what is damaged or does not fit any more is forgotten. It makes no plans.
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ge/engine/engine.h"
#include "ge/ir/graph.h"
#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// Equal for graphs with the same nodes and shapes (payloads of large constants do not count), the
// same plugins, devices and options, and the same machine, ISA and threads.
std::string QuestionOf(const Graph& bound, const std::vector<std::unique_ptr<Engine>>& engines);

// How PLACE is asked for that plan again.
std::optional<PlaceOptions> FindRehearsed(const std::string& question);

// The plan is kept with the offers that it takes, so that prices which change do not change it;
// should these not be made any more, with each node pinned to the engine that it has (a plan by
// cost) or as it was asked for. Nothing happens where no cache folder can be written.
void KeepRehearsed(const std::string& question, const PlaceOptions& placed_by, const Plan& plan);

// Pins a node of `plan`, which was placed by *place, to another engine or device; pins of nodes
// that shared an offer with it go, since that offer is gone.
void MovePin(const Plan& plan, NodeId node, const std::string& target, PlaceOptions* place);

}  // namespace ge
