#include "ge/place/placed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ge {

std::vector<PlaceSegment> CoverOf(const Plan& plan, const PlanFunction& placed) {
  std::vector<PlaceSegment> cover;
  for (const PlanSegment& segment : placed.segments) {
    if (segment.offers.empty()) continue;  // a conversion or copy
    PlaceSegment s{plan.devices[segment.device].name, {}};
    for (const PlanOffer& o : segment.offers)
      s.offers.push_back({o.offer_index, o.choice, o.nodes});
    cover.push_back(std::move(s));
  }
  return cover;
}

std::vector<PlacePin> PinsOfMove(const Plan& plan, std::span<const NodeId> moved,
                                 const std::string& target) {
  const std::set<NodeId> wanted(moved.begin(), moved.end());
  std::vector<PlacePin> pins;
  for (const PlanSegment& segment : plan.functions[0].segments) {
    for (const PlanOffer& o : segment.offers) {
      const bool gone = std::any_of(o.nodes.begin(), o.nodes.end(),
                                    [&](NodeId n) { return wanted.count(n) != 0; });
      for (const NodeId n : o.nodes) {
        const bool moves = wanted.count(n) != 0;
        if (gone && !moves) continue;
        pins.push_back({fmt::format("#{}", n), moves ? target : plan.devices[segment.device].name});
      }
    }
  }
  return pins;
}

std::string PlacementDigest(const Plan& plan) {
  std::vector<std::string> lines;  // sorted, since the numbers of segments mean nothing
  for (const PlanSegment& s : plan.functions[0].segments) {
    std::string line = std::to_string(s.device);
    for (const PlanOffer& o : s.offers) {
      line += fmt::format(" {}/{}", fmt::join(o.nodes, "+"), o.choice);
    }
    if (!s.offers.empty()) lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace ge
