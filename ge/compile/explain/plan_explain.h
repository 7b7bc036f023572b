// Explains a finished plan as JSON: for every node its engine, the price, the runner-up and the
// refusals. For ge_session_explain (ge.h) and ge explain. Functions only, any thread.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge {

// The fields of one plan. A plan shaped like another one has no bids.
nlohmann::json ExplainPlan(const Compiled& compiled);
// {"pieces": [...]}, each as above with the name of its "function".
nlohmann::json ExplainPieces(const std::vector<std::shared_ptr<Compiled>>& pieces);

// Nodes computing in float32 16-bit floats of the model (pass widen-halves).
size_t CountWidened(const Compiled& compiled);
// Nodes of offers that round inputs of products (GE_OFFER_ROUNDS).
size_t CountRounded(const Compiled& compiled);
// Segments without nodes: they bring a value into another layout.
size_t CountConversions(const Plan& plan);
// For each placed node: the layout of its offer, or "plain". An engine's offer has one, as a rule;
// several are joined by '+'.
std::map<NodeId, std::string> LayoutsTaken(const Plan& plan);
// Plans of one class share covers; empty for a plan without a class.
std::string ShapeClassName(const Compiled& compiled);

}  // namespace ge
