// A caller's demands on PLACE: the policy, nodes pinned to an engine, no fusing. It is data;
// ge/place/from_offers.cc obeys it. Values, owned by their holder; any thread may read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/plan/state_homes.h"

namespace ge {

enum class PlacePolicy {
  kCost,      // the cheapest whole plan
  kPriority,  // as other runtimes do: in order, the first engine that offers a node takes it
};
// "cost", "priority"; INVALID_ARGUMENT for anything else.
Result<PlacePolicy> PlacePolicyFromName(std::string_view name);

struct PlacePin {
  // A node's name, its label as ge explain prints it, or #ID; or, for several nodes, an operator or
  // a pattern of labels or operators with * and ?.
  std::string node;
  std::string target;  // "onednn", or one of its devices: "onednn/cpu"
  // LayoutName: the node reads or makes a value in it, or in plain ("plain": all are). "" = any.
  std::string layout = {};
  // For a part of a pinned node: the label of that node.
  std::string part_of = {};
  bool may_miss = false;  // skipped where it fits no node
};
// "NODE=ENGINE[/DEVICE][@LAYOUT]"; the last '=' separates, since names may hold one.
Result<PlacePin> ParsePin(std::string_view text);
// Several, separated by ';'.
Result<std::vector<PlacePin>> ParsePins(std::string_view text);

// Adds the pin, or replaces the one with the same name.
void Repin(const PlacePin& pin, std::vector<PlacePin>* pins);

// A segment of an earlier placement: its offers and their layouts.
struct PlaceSegment {
  std::string device;  // "onednn/cpu": another engine may have offers of the same numbers by now
  struct Taken {
    uint32_t offer = 0, choice = 0;  // in PLACE's list; of its layouts
    std::vector<uint32_t> nodes;     // ids
  };
  std::vector<Taken> offers;
};

struct PlaceOptions {
  PlacePolicy policy = PlacePolicy::kCost;
  std::vector<std::string> order;  // kPriority: engines, first wins; others follow in the session's
                                   // order; empty means that order alone
  std::vector<PlacePin> pins;
  // Skips a pin that fits no node: a piece need not have all nodes.
  bool pins_may_miss = false;
  // Taken as it is when all its offers are made again, at any price; otherwise
  // ignored.
  std::vector<PlaceSegment> cover;
  std::string cover_method = "rehearsed";  // the plan's place_method if the cover is taken
  // Nodes to expand into their decomposition, for a cover or pins that name resulting nodes; not
  // set: prices decide.
  std::optional<std::vector<uint32_t>> expanded;
  // Nodes, by index, each to become a segment of its own.
  std::vector<uint32_t> alone;
  // States among the function's parameters and results; their homes follow from the placement.
  std::vector<StateValues> states;
  bool fuse = true;  // false: each node is a segment of its own, without patterns and groups
};

}  // namespace ge
