// A plan of a file: placed as the file says, once every number of it has been checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ge/compile/builder.h"
#include "ge/compile/compiled/saved_plan.h"
#include "ge/host/machine.h"
#include "ge/ir/walk.h"
#include "ge/partition/partition.h"
#include "ge/place/from_offers.h"

namespace ge {
namespace {

constexpr uint32_t kMostAlign = 4096;

Status Corrupt(std::string what) {
  return Status(Code::kDataCorrupt, "the saved plan: " + std::move(what));
}

bool IsPrice(double ns) { return std::isfinite(ns); }

}  // namespace

Status Builder::TakeSaved() {
  const Plan& saved = options_.saved->plan;
  if (saved.functions.empty()) return Corrupt("it has no function");
  for (size_t i = 0; i < function().nodes.size(); ++i) {
    positions_.emplace(function().nodes[i].id, static_cast<int64_t>(i));
  }
  c_->unasked_ = true;
  c_->placing = Compiled::Placing::kSaved;
  GE_ASSIGN_OR_RETURN(c_->view_, GraphView::Make(c_->graph, function()));
  GE_RETURN_IF_ERROR(DescribeEngines(engines(), HostMachine(), &c_->plan));
  c_->plan.graph_name = saved.graph_name;
  c_->plan.place_method = "saved";
  c_->plan.layouts = saved.layouts;
  c_->plan.report = saved.report;
  if (c_->plan.layouts.empty()) c_->plan.layouts.emplace_back();
  std::vector<DeviceId> devices;
  GE_RETURN_IF_ERROR(FindDevices(saved, &devices));
  GE_RETURN_IF_ERROR(TakeConversions(saved, devices));
  GE_RETURN_IF_ERROR(TakeSegments(saved, devices));
  GE_RETURN_IF_ERROR(CheckOrder(c_->plan));
  if (c_->UsesLost()) {
    return Status(Code::kFailedPrecondition, "the saved plan has work for a device that is lost");
  }
  GE_RETURN_IF_ERROR(AskUnpromised());
  c_->plan.predicted_ns = std::nan("");  // the sum of the saved prices
  const Status cut = Partition(c_->graph, function(), &c_->plan, StatesOf());
  if (cut.code() == Code::kInternal) return Corrupt(cut.message());
  GE_RETURN_IF_ERROR(cut);
  bool again = false;
  GE_RETURN_IF_ERROR(Compile(&again));
  if (!again) return {};
  return Status(Code::kFailedPrecondition,
                "an engine does not take the saved plan: " + last_failure_.message());
}

int64_t Builder::PositionOf(NodeId node) const {
  const auto at = positions_.find(node);
  return at == positions_.end() ? -1 : at->second;
}

Status Builder::FindDevices(const Plan& saved, std::vector<DeviceId>* devices) const {
  devices->assign(1, 0);
  for (size_t i = 1; i < saved.devices.size(); ++i) {
    const auto is = [&](const PlanDevice& d) { return d.name == saved.devices[i].name; };
    const auto at = std::find_if(c_->plan.devices.begin() + 1, c_->plan.devices.end(), is);
    devices->push_back(
        at == c_->plan.devices.end() ? 0 : static_cast<DeviceId>(at - c_->plan.devices.begin()));
  }
  for (const PlanSegment& s : saved.functions[0].segments) {
    if (s.offers.empty()) continue;
    if (s.device == 0 || s.device >= devices->size()) {
      return Corrupt(fmt::format("a segment is on device {} of {}", s.device, devices->size()));
    }
    if ((*devices)[s.device] == 0) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("the saved plan needs the device '{}', which this session has not",
                                saved.devices[s.device].name));
    }
  }
  return {};
}

Status Builder::TakeConversions(const Plan& saved, const std::vector<DeviceId>& devices) {
  const size_t layouts = c_->plan.layouts.size();
  for (const PlanConversion& given : saved.conversions) {
    PlanConversion c = given;
    if (c.device >= devices.size() || c.from >= layouts || c.to >= layouts ||
        !IsPrice(c.setup_ns) || !IsPrice(c.ns_per_byte) || c.setup_ns < 0 || c.ns_per_byte < 0) {
      return Corrupt(fmt::format("a conversion of device {} from layout {} to {} is not legal",
                                 c.device, c.from, c.to));
    }
    c.device = devices[c.device];
    if (c.device == 0) continue;
    const ge_engine_api& api = engines()[c_->plan.devices[c.device].engine - 1]->api();
    // The others' come with their own offers.
    if ((api.promises & GE_ENGINE_UNASKED) != 0) c_->plan.conversions.push_back(c);
  }
  return {};
}

Status Builder::TakeSegments(const Plan& saved, const std::vector<DeviceId>& devices) {
  c_->plan.functions.assign(1, {});
  PlanFunction& fn = c_->plan.functions[0];
  fn.name = function().name;
  std::vector<bool> taken(function().nodes.size());
  uint32_t next = 0;
  for (const PlanSegment& s : saved.functions[0].segments) {
    if (s.offers.empty()) continue;  // PARTITION adds conversions again
    PlanSegment& mine = fn.segments.emplace_back();
    mine.device = devices[s.device];
    mine.offers = s.offers;
    for (PlanOffer& o : mine.offers) {
      GE_RETURN_IF_ERROR(CheckOffer(o, &taken));
      o.offer_index = next++;
    }
  }
  const auto left = std::find(taken.begin(), taken.end(), false);
  if (left == taken.end()) return {};
  const auto at = static_cast<size_t>(left - taken.begin());
  return Corrupt(fmt::format("no segment has the node '{}'", NodeLabel(function().nodes[at])));
}

Status Builder::CheckOffer(const PlanOffer& o, std::vector<bool>* taken) const {
  int64_t last = -1;
  for (const NodeId n : o.nodes) {
    const int64_t at = PositionOf(n);
    if (at < 0) return Corrupt(fmt::format("an offer has the node {}, which is none", n));
    if (at <= last) return Corrupt(fmt::format("an offer has node {} out of order", n));
    if ((*taken)[static_cast<size_t>(at)]) return Corrupt(fmt::format("node {} twice", n));
    (*taken)[static_cast<size_t>(at)] = true;
    last = at;
  }
  if (o.nodes.empty()) return Corrupt("an offer has no nodes");
  for (const auto& [value, layout] : o.layouts) {
    if (value == 0 || value >= function().values.size() || layout >= c_->plan.layouts.size()) {
      return Corrupt(fmt::format("an offer names value {} and layout {}; there are {} and {}",
                                 value, layout, function().values.size(), c_->plan.layouts.size()));
    }
  }
  const bool prices = IsPrice(o.setup_ns) && IsPrice(o.marginal_ns) && IsPrice(o.launch_ns) &&
                      IsPrice(o.edge_saving_ns);
  if (!prices) return Corrupt("an offer's price is no number");
  if ((o.const_align & (o.const_align - 1)) == 0 && o.const_align <= kMostAlign) return {};
  return Corrupt(fmt::format("an offer's const_align is {}, wanted a power of two up to {}",
                             o.const_align, kMostAlign));
}

Status Builder::CheckOrder(const Plan& plan) const {
  const Function& f = function();
  struct Place {
    size_t segment = 0, offer = 0;
  };
  std::vector<Place> of(f.nodes.size());
  const auto& segments = plan.functions[0].segments;
  for (size_t s = 0; s < segments.size(); ++s) {
    for (size_t k = 0; k < segments[s].offers.size(); ++k) {
      for (const NodeId n : segments[s].offers[k].nodes) {
        of[static_cast<size_t>(PositionOf(n))] = {s, k};
      }
    }
  }
  const std::vector<int32_t> makers = BuildProducers(f);
  for (size_t n = 0; n < f.nodes.size(); ++n) {
    for (const ValueId v : f.nodes[n].inputs) {
      if (v == 0 || makers[v] < 0) continue;
      const Place& maker = of[static_cast<size_t>(makers[v])];
      const bool before = maker.segment < of[n].segment ||
                          (maker.segment == of[n].segment && maker.offer <= of[n].offer);
      if (before) continue;
      return Corrupt(fmt::format("segment {} reads '{}' of segment {}, which comes later",
                                 of[n].segment, f.values[v].name, maker.segment));
    }
  }
  for (const auto& [first, then] : OrderEdges(f)) {
    if (of[first].segment < of[then].segment) continue;
    return Corrupt(fmt::format("node '{}' is to run after '{}' and does not",
                               NodeLabel(f.nodes[then]), NodeLabel(f.nodes[first])));
  }
  return {};
}

Status Builder::AskUnpromised() {
  std::vector<bool> asked(engines().size());
  auto& segments = c_->plan.functions[0].segments;
  for (const PlanSegment& s : segments) {
    const uint32_t e = c_->plan.devices[s.device].engine - 1;
    if (asked[e] || (engines()[e]->api().promises & GE_ENGINE_UNASKED) != 0) continue;
    asked[e] = true;
    GE_RETURN_IF_ERROR(QueryEngine(*engines()[e], e, c_->graph, function(), c_->view_->get(),
                                   &c_->plan.layouts, &c_->offers));
  }
  DescribeConversions(c_->offers, &c_->plan);
  for (PlanSegment& s : segments) {
    if (!asked[c_->plan.devices[s.device].engine - 1]) continue;
    for (PlanOffer& o : s.offers) GE_RETURN_IF_ERROR(TakeAsked(&o, s.device));
  }
  return {};
}

Status Builder::TakeAsked(PlanOffer* offer, DeviceId device) const {
  std::vector<uint32_t> nodes;
  for (const NodeId n : offer->nodes) nodes.push_back(static_cast<uint32_t>(PositionOf(n)));
  auto wanted = offer->layouts;
  std::erase_if(wanted, [](const auto& l) { return l.second == 0; });
  std::sort(wanted.begin(), wanted.end());
  for (const Offer& o : c_->offers.offers) {
    if (o.convert || o.nodes != nodes || DeviceOf(c_->plan, o) != device) continue;
    for (uint32_t k = 0; k < o.choices.size(); ++k) {
      auto layouts = o.choices[k].layouts;
      std::erase_if(layouts, [](const auto& l) { return l.second == 0; });
      std::sort(layouts.begin(), layouts.end());
      if (layouts != wanted) continue;
      offer->cookie = o.cookie;
      offer->choice = k;
      offer->const_align = o.const_align;
      return {};
    }
  }
  return Status(Code::kFailedPrecondition,
                fmt::format("device '{}' does not offer node '{}' as the saved plan has it",
                            c_->plan.devices[device].name, NodeLabel(function().nodes[nodes[0]])));
}

}  // namespace ge
