// RandomCover: random covers of a graph by an engine's offers, with unions of growable ones. Legal
// by the rules of ge_plugin.h: connected, of one device, orderable. Pure; any thread.
#pragma once

#include <vector>

#include "elements.h"
#include "execute.h"

namespace ge::conform {

// "", or why an offer's nodes are no legal pattern: values do not connect them, or a node outside
// lies between two of them.
std::string PatternFault(const mock::Graph& graph, const mock::Offer& offer);

// Groups of offers; a node is in one at most. With chance `take` a node is taken, with chance
// `grow` an offer joins a neighbouring group.
std::vector<Group> RandomCover(const mock::Graph& graph, const mock::Answer& answer, double take,
                               double grow, Random* random);

}  // namespace ge::conform
