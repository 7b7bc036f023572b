// What a caller may demand of PLACE: the policy, nodes pinned to an engine, no fusing. It is data;
// ge/place/from_offers.cc obeys it. Values, owned by whoever holds them; any thread may read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"

namespace ge {

enum class PlacePolicy {
  kCost,      // the cheapest whole plan
  kPriority,  // as other runtimes do: in order, the first engine that offers a node takes it
};
// "cost", "priority"; INVALID_ARGUMENT for anything else.
Result<PlacePolicy> PlacePolicyFromName(std::string_view name);

struct PlacePin {
  // A node's name, its label as ge explain prints it, or #ID; or, for all that fit, an operator or
  // a pattern of labels or operators with * and ?.
  std::string node;
  std::string target;  // "onednn", or one of its devices: "onednn/cpu"
  // LayoutName: what the node reads or makes is in it, or plain ("plain": all is). "" = any.
  std::string layout = {};
  // Of a part of a node that was pinned: the label of that node.
  std::string part_of = {};
  bool may_miss = false;  // it is passed over where it fits no node
};
// "NODE=ENGINE[/DEVICE][@LAYOUT]"; the last '=' separates, since names may hold one.
Result<PlacePin> ParsePin(std::string_view text);
// Several, separated by ';'.
Result<std::vector<PlacePin>> ParsePins(std::string_view text);

// Adds the pin, in the place of one for the same name where there is one.
void Repin(const PlacePin& pin, std::vector<PlacePin>* pins);

// A segment as it was placed before: which offers, in which layouts.
struct PlaceSegment {
  std::string device;  // "onednn/cpu": offers of the same number may be another engine's by now
  struct Taken {
    uint32_t offer = 0, choice = 0;  // in PLACE's list; of its layouts
    std::vector<uint32_t> nodes;     // ids
  };
  std::vector<Taken> offers;
};

struct PlaceOptions {
  PlacePolicy policy = PlacePolicy::kCost;
  std::vector<std::string> order;  // kPriority: engines, first wins; those not named follow in the
                                   // session's order, which is also what empty means
  std::vector<PlacePin> pins;
  // A pin that fits no node is passed over: of a piece, which need not have all nodes.
  bool pins_may_miss = false;
  // Taken as it is when all its offers are made again, whatever they cost now; else it is as if it
  // were not given.
  std::vector<PlaceSegment> cover;
  std::string cover_method = "rehearsed";  // the plan's place_method where it is taken
  // Which nodes become their decomposition, for a cover or pins that name what came out of it; not
  // set: prices decide.
  std::optional<std::vector<uint32_t>> expanded;
  // Nodes, by index, that are each a segment of their own.
  std::vector<uint32_t> alone;
  bool fuse = true;  // false: each node is a segment of its own, without patterns and groups
};

}  // namespace ge
