// Ways to cover a graph by an engine's offers: unions of growable ones, and random covers of the
// whole. Legal by the rules of ge_plugin.h: connected, of one device, orderable. Pure; any thread.
#pragma once

#include <vector>

#include "elements.h"
#include "execute.h"

namespace ge::conform {

// Empty, or why the nodes of an offer are no legal pattern: not connected by values, or a node
// outside stands between two of them.
std::string PatternFault(const mock::Graph& graph, const mock::Offer& offer);

// Groups of offers, each node in one at most. With chance `take` a node is taken, with chance
// `grow` an offer joins a group that it touches.
std::vector<Group> RandomCover(const mock::Graph& graph, const mock::Answer& answer, double take,
                               double grow, Random* random);

}  // namespace ge::conform
