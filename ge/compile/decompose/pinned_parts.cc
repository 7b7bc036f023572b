#include "ge/compile/decompose/pinned_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ge/compile/decompose/expansion.h"
#include "ge/host/machine.h"
#include "ge/ops/edit.h"
#include "ge/place/from_offers.h"
#include "ge/place/pins.h"

namespace ge {
namespace {

// Parts may have parts: so often they are looked at anew.
constexpr int kMostRounds = 32;

// Nodes by position that a device of theirs offers to take, alone or with others.
std::vector<bool> Offered(const Function& f, const Plan& plan, const OfferSet& offers,
                          const std::vector<NodePin>& bound) {
  std::vector<bool> out(f.nodes.size());
  for (const Offer& o : offers.offers) {
    if (o.convert) continue;
    for (const uint32_t n : o.nodes) {
      const std::vector<DeviceId>& devices = bound[n].devices;
      out[n] = out[n] || std::count(devices.begin(), devices.end(), DeviceOf(plan, o)) > 0;
    }
  }
  return out;
}

// The pins of nodes that are to become parts, by node; empty: there are none.
Result<std::map<NodeId, PlacePin>> PinsOfParts(const EngineList& engines, const AskEngines& ask,
                                               const Graph& graph, FunctionId fn,
                                               const PlaceOptions& place) {
  std::map<NodeId, PlacePin> out;
  const Function& f = graph.fn(fn);
  const std::vector<NodeId> pinned = PinnedNodes(f, place.pins), able = NodesWithParts(graph, f);
  const std::set<NodeId> candidates(able.begin(), able.end());
  const auto is_able = [&](NodeId n) { return candidates.count(n) > 0; };
  if (std::none_of(pinned.begin(), pinned.end(), is_able)) return out;
  Plan plan;
  OfferSet offers;
  GE_RETURN_IF_ERROR(DescribeEngines(engines, HostMachine(), &plan));
  GE_RETURN_IF_ERROR(ask(graph, f, &plan.layouts, &offers));
  PlaceOptions options = place;
  options.pins_may_miss = true;  // some may be of parts that are made later
  GE_ASSIGN_OR_RETURN(const std::vector<NodePin> bound, ResolvePins(f, plan, options));
  const std::vector<bool> offered = Offered(f, plan, offers, bound);
  for (size_t n = 0; n < f.nodes.size(); ++n) {
    const Node& node = f.nodes[n];
    if (bound[n].pin == nullptr || !bound[n].layout.empty() || offered[n]) continue;
    if (is_able(node.id)) out[node.id] = *bound[n].pin;
  }
  return out;
}

// Leaves out a pin of this node alone; one that names more may find no other.
void TakeOver(const Function& f, NodeId node, std::vector<PlacePin>* pins) {
  const auto at =
      std::find_if(f.nodes.begin(), f.nodes.end(), [&](const Node& n) { return n.id == node; });
  const std::string label = NodeLabel(*at), id = fmt::format("#{}", node);
  std::erase_if(*pins, [&](const PlacePin& p) { return p.node == label || p.node == id; });
  for (PlacePin& p : *pins) {
    const std::vector<NodeId> fits = PinnedNodes(f, {p});
    p.may_miss |= std::count(fits.begin(), fits.end(), node) > 0;
  }
}

// Unless it has a pin of its own, as a rehearsal gives it.
void PinPart(const Function& f, NodeId part, const PlacePin& pin, const std::string& of,
             std::vector<PlacePin>* pins) {
  const auto at =
      std::find_if(f.nodes.begin(), f.nodes.end(), [&](const Node& n) { return n.id == part; });
  if (at == f.nodes.end()) return;
  const std::string label = NodeLabel(*at), id = fmt::format("#{}", part);
  const bool own = std::any_of(pins->begin(), pins->end(),
                               [&](const PlacePin& p) { return p.node == label || p.node == id; });
  if (!own) pins->push_back({id, pin.target, "", pin.part_of.empty() ? of : pin.part_of, true});
}

}  // namespace

Status ExpandPinned(const EngineList& engines, const AskEngines& ask, const FloatsOfWeight& floats,
                    Graph* graph, FunctionId fn, PlaceOptions* place, std::vector<NodeId>* expanded,
                    DecompositionNotes* notes) {
  for (int round = 0; round < kMostRounds && !place->pins.empty(); ++round) {
    GE_ASSIGN_OR_RETURN(const auto wanted, PinsOfParts(engines, ask, *graph, fn, *place));
    if (wanted.empty()) return {};
    std::vector<NodeId> which;
    std::map<NodeId, std::string> labels;
    for (const Node& n : graph->fn(fn).nodes) {
      if (wanted.count(n.id) > 0) {
        which.push_back(n.id);
        labels[n.id] = NodeLabel(n);
      }
    }
    const Function before = graph->fn(fn);
    GE_ASSIGN_OR_RETURN(const auto made, Expand(floats, graph, fn, which));
    if (made.empty()) return {};
    for (const Expansion& e : made) TakeOver(before, e.node, &place->pins);
    for (const Expansion& e : made) {
      const PlacePin& pin = wanted.at(e.node);
      for (const NodeId part : e.parts) {
        PinPart(graph->fn(fn), part, pin, labels.at(e.node), &place->pins);
        (*notes)[part] = fmt::format("expanded from {}: it is pinned to {}, which takes its parts",
                                     e.op, pin.target);
      }
      expanded->push_back(e.node);
    }
    Compact(graph);
  }
  return {};
}

}  // namespace ge
