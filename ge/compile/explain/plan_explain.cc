#include "ge/compile/explain/plan_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ge/compile/compiled/device_needs.h"

namespace ge {
namespace {

nlohmann::json KnownNs(double ns) { return ns < 0 ? nlohmann::json() : nlohmann::json(ns); }

nlohmann::json BidJson(const Plan& plan, const NodeReport& r, int32_t index) {
  if (index < 0) return nullptr;
  const Bid& b = r.bids[static_cast<size_t>(index)];
  return {{"device", plan.devices[b.device].name},
          {"price_ns", b.price_ns},
          {"source", b.source},
          {"analytic_ns", b.analytic_ns},
          {"measured_ns", KnownNs(b.measured_ns)},
          {"factor", b.factor},
          {"pattern", b.pattern},
          {"rounds", b.rounds}};
}

}  // namespace

size_t CountConversions(const Plan& plan) {
  const auto& segments = plan.functions[0].segments;
  return static_cast<size_t>(std::count_if(segments.begin(), segments.end(),
                                           [](const PlanSegment& s) { return s.conversion >= 0; }));
}

size_t CountWidened(const Compiled& compiled) {
  if (compiled.graph.functions.empty())
    return 0;  // shaped like another plan: nobody looks at its graph
  const auto& nodes = compiled.graph.fn(compiled.fn).nodes;
  return static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [](const Node& n) {
    return n.op != "Cast" && std::any_of(n.origin.begin(), n.origin.end(),
                                         [](const Origin& o) { return o.pass == "widen-halves"; });
  }));
}

size_t CountRounded(const Compiled& compiled) {
  size_t n = 0;
  for (const PlanSegment& s : compiled.plan.functions[0].segments) {
    for (const PlanOffer& o : s.offers) n += o.rounds ? o.nodes.size() : 0;
  }
  return n;
}

std::map<NodeId, std::string> LayoutsTaken(const Plan& plan) {
  std::map<NodeId, std::string> taken;
  for (const PlanSegment& s : plan.functions[0].segments) {
    for (const PlanOffer& o : s.offers) {
      std::set<std::string> names;
      for (const auto& [value, layout] : o.layouts) {
        if (layout != 0) names.insert(LayoutName(plan.layouts[layout]));
      }
      if (names.empty()) names.insert("plain");
      const std::string name = fmt::format("{}", fmt::join(names, "+"));
      for (NodeId n : o.nodes) taken[n] = name;
    }
  }
  return taken;
}

std::string ShapeClassName(const Compiled& compiled) {
  return compiled.shape_class ? fmt::format("{:08x}", *compiled.shape_class >> 32) : "";
}

// Links as they count; a wait's time is part of no latency here.
static nlohmann::json LinksJson(const Compiled& compiled) {
  nlohmann::json all = nlohmann::json::array();
  const Plan& plan = compiled.plan;
  for (const LinkPrice& l : compiled.links) {
    all.push_back({{"from", plan.domains[l.from].name},
                   {"to", plan.domains[l.to].name},
                   {"engine", plan.engines[l.engine].name},
                   {"pinned", l.pinned},
                   {"told_latency_ns", l.told.latency_ns},
                   {"told_bytes_per_ns", l.told.bytes_per_ns},
                   {"latency_ns", l.now.latency_ns},
                   {"bytes_per_ns", l.now.bytes_per_ns},
                   {"source", l.source},
                   {"wait_ns", l.wait_ns},
                   {"wait_source", l.wait_source}});
  }
  return all;
}

static nlohmann::json MemoryJson(const Compiled& compiled) {
  nlohmann::json memory = nlohmann::json::array();
  for (const DeviceNeed& need : DeviceNeeds(compiled)) {
    memory.push_back({{"memory", need.memory},
                      {"arena_bytes", need.arena},
                      {"pack_bytes", need.packs},
                      {"state_bytes", need.states}});
    if (need.limit != 0) memory.back()["limit_bytes"] = need.limit;
  }
  return memory;
}

nlohmann::json ExplainPlan(const Compiled& compiled) {
  nlohmann::json nodes = nlohmann::json::array();
  std::map<NodeId, uint32_t> taken;  // equal for the nodes of one offer
  for (const PlanSegment& seg : compiled.plan.functions[0].segments) {
    for (const PlanOffer& o : seg.offers) {
      for (NodeId n : o.nodes) taken[n] = o.offer_index;
    }
  }
  std::map<NodeId, std::string> layouts = LayoutsTaken(compiled.plan);
  for (const NodeReport& r : compiled.plan.reports()) {
    nlohmann::json refusals = nlohmann::json::array(), bids = nlohmann::json::array();
    for (size_t i = 0; i < r.bids.size(); ++i) {
      const Bid& b = r.bids[i];
      if (!b.declined) bids.push_back(BidJson(compiled.plan, r, static_cast<int32_t>(i)));
      if (!b.declined) continue;
      refusals.push_back(
          {{"engine", compiled.plan.engines[compiled.plan.devices[b.device].engine].name},
           {"why", b.why}});
    }
    const Bid* bid = r.chosen < 0 ? nullptr : &r.bids[static_cast<size_t>(r.chosen)];
    nodes.push_back({{"node", r.label},
                     // Of the whole offer, taken alone, when it covers several nodes.
                     {"price_ns", KnownNs(bid ? bid->price_ns : -1)},
                     {"price_source", bid ? nlohmann::json(bid->source) : nullptr},
                     {"analytic_ns", KnownNs(bid ? bid->analytic_ns : -1)},
                     {"measured_ns", KnownNs(bid ? bid->measured_ns : -1)},
                     {"inside_ns", KnownNs(bid ? bid->inside_ns : -1)},
                     {"id", r.node},
                     {"op", r.op},
                     {"segment", r.segment},
                     {"offer", taken.count(r.node) ? nlohmann::json(taken[r.node]) : nullptr},
                     {"layout", layouts[r.node]},
                     {"chosen", BidJson(compiled.plan, r, r.chosen)},
                     {"runner_up", BidJson(compiled.plan, r, r.runner_up)},
                     {"bids", bids},
                     {"refusals", refusals},
                     {"decomposition", r.decomposition}});
  }
  return {{"nodes", nodes},
          {"device_memory", MemoryJson(compiled)},
          {"links", LinksJson(compiled)},
          {"predicted_ns", compiled.plan.predicted_ns},
          {"offers_measured", compiled.measured.measured},
          {"offers_left", compiled.measured.left},
          {"method", compiled.plan.place_method},
          {"class", ShapeClassName(compiled)},
          {"conversions", CountConversions(compiled.plan)},
          {"widened", CountWidened(compiled)},
          {"rounded", CountRounded(compiled)},
          {"recalled", compiled.recalled},
          {"rejected_offers", compiled.offers.rejected},
          {"struck_offers", compiled.struck_offers}};
}

nlohmann::json ExplainPieces(const std::vector<std::shared_ptr<Compiled>>& pieces) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& c : pieces) {
    all.push_back(ExplainPlan(*c));
    all.back()["function"] = c->plan.functions[0].name;
  }
  return {{"pieces", std::move(all)}};
}

}  // namespace ge
