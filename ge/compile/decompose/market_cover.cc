#include "ge/compile/decompose/market_cover.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "ge/place/from_offers.h"

namespace ge {
namespace {

bool Before(const std::pair<GivenBy, PlanLayout>& a, const std::pair<GivenBy, PlanLayout>& b) {
  return a.first < b.first;
}

using ByNodes = std::map<std::pair<DeviceId, std::vector<uint32_t>>, std::vector<size_t>>;

// Of the offers for these nodes the choice with this border, nearest in price; one that `joins`
// others in a segment must grow.
std::optional<PlaceSegment::Taken> Same(const MarketCover::Taken& taken, bool joins,
                                        const std::vector<size_t>& alike, const OfferSet& offers,
                                        const std::vector<GivenBy>& givers, const Plan& plan) {
  std::optional<PlaceSegment::Taken> best;
  double apart = 0;
  for (size_t i : alike) {
    const Offer& o = offers.offers[i];
    if (joins && !o.growable) continue;
    for (uint32_t c = 0; c < o.choices.size(); ++c) {
      if (BorderOf(o.choices[c], givers, plan.layouts) != taken.layouts) continue;
      const double ns = o.setup_ns + o.launch_ns + o.choices[c].marginal_ns;
      const double off = std::abs(ns - taken.alone_ns);
      if (best && off >= apart) continue;
      best = PlaceSegment::Taken{static_cast<uint32_t>(i), c, {}};
      apart = off;
    }
  }
  return best;
}

}  // namespace

std::vector<GivenBy> GiversOf(const Function& function) {
  std::vector<GivenBy> out(function.values.size());
  for (uint32_t i = 0; i < function.params.size(); ++i) out[function.params[i]] = {0, i};
  for (const Node& n : function.nodes) {
    for (uint32_t i = 0; i < n.outputs.size(); ++i) {
      if (n.outputs[i]) out[n.outputs[i]] = {n.id, i};
    }
  }
  return out;
}

std::vector<std::pair<GivenBy, PlanLayout>> BorderOf(const OfferChoice& choice,
                                                     const std::vector<GivenBy>& givers,
                                                     const std::vector<PlanLayout>& layouts) {
  std::vector<std::pair<GivenBy, PlanLayout>> out;
  for (const auto& [value, layout] : choice.layouts) {
    if (layout != 0) out.emplace_back(givers[value], layouts[layout]);
  }
  std::sort(out.begin(), out.end(), Before);
  return out;
}

MarketCover CoverOfPlan(const Plan& plan, const Function& function) {
  const std::vector<GivenBy> givers = GiversOf(function);
  MarketCover out;
  for (const PlanSegment& s : plan.functions[0].segments) {
    if (s.offers.empty()) continue;  // a conversion or copy
    MarketCover::Segment segment{plan.devices[s.device].name, {}};
    for (const PlanOffer& o : s.offers) {
      MarketCover::Taken taken{o.nodes, {}, 0};
      std::sort(taken.nodes.begin(), taken.nodes.end());
      OfferChoice choice;
      choice.layouts = o.layouts;
      taken.layouts = BorderOf(choice, givers, plan.layouts);
      segment.offers.push_back(std::move(taken));
    }
    out.segments.push_back(std::move(segment));
  }
  return out;
}

std::vector<PlaceSegment> CoverAmong(const MarketCover& cover, const Plan& plan,
                                     const Function& function, const OfferSet& offers) {
  std::unordered_map<NodeId, uint32_t> position;
  for (uint32_t i = 0; i < function.nodes.size(); ++i) position[function.nodes[i].id] = i;
  ByNodes by_nodes;
  for (size_t i = 0; i < offers.offers.size(); ++i) {
    const Offer& o = offers.offers[i];
    if (!o.convert) by_nodes[{DeviceOf(plan, o), o.nodes}].push_back(i);
  }
  const std::vector<GivenBy> givers = GiversOf(function);
  std::vector<PlaceSegment> out;
  for (const MarketCover::Segment& segment : cover.segments) {
    const auto device = std::find_if(plan.devices.begin(), plan.devices.end(),
                                     [&](const PlanDevice& d) { return d.name == segment.device; });
    if (device == plan.devices.end()) return {};
    const auto number = static_cast<DeviceId>(device - plan.devices.begin());
    PlaceSegment same{segment.device, {}};
    for (const MarketCover::Taken& taken : segment.offers) {
      std::vector<uint32_t> nodes;
      for (NodeId id : taken.nodes) {
        const auto at = position.find(id);
        if (at != position.end()) nodes.push_back(at->second);
      }
      if (nodes.empty()) continue;
      std::sort(nodes.begin(), nodes.end());
      const auto alike = by_nodes.find({number, nodes});
      if (alike == by_nodes.end()) return {};
      auto found = Same(taken, segment.offers.size() > 1, alike->second, offers, givers, plan);
      if (!found) return {};
      for (uint32_t n : offers.offers[found->offer].nodes) {
        found->nodes.push_back(function.nodes[n].id);
      }
      same.offers.push_back(*std::move(found));
    }
    if (!same.offers.empty()) out.push_back(std::move(same));
  }
  return out;
}

}  // namespace ge
