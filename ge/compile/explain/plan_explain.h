// Why a finished plan is as it is: for every node who runs it, at what price, who was next, and who
// refused; as JSON, for ge_session_explain (ge.h) and ge explain. Functions only, any thread.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge {

// The fields of one plan. A plan that is shaped like another one has no bids.
nlohmann::json ExplainPlan(const Compiled& compiled);
// {"pieces": [...]}, each as above with the name of its "function".
nlohmann::json ExplainPieces(const std::vector<std::shared_ptr<Compiled>>& pieces);

// Nodes that compute in float32 what the model has in 16-bit floats (pass widen-halves).
size_t CountWidened(const Compiled& compiled);
// Nodes of offers that round what products read (GE_OFFER_ROUNDS).
size_t CountRounded(const Compiled& compiled);
// Segments without nodes: they bring a value into another layout.
size_t CountConversions(const Plan& plan);
// For each node that is placed: the layout that its offer has something in, or "plain". An engine's
// offer has one, as a rule; of several, all, joined by '+'.
std::map<NodeId, std::string> LayoutsTaken(const Plan& plan);
// Plans of one class share covers; empty where a plan is of none.
std::string ShapeClassName(const Compiled& compiled);

}  // namespace ge
