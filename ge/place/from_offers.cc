#include "ge/place/from_offers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "ge/ir/walk.h"
#include "ge/place/overlap.h"
#include "ge/place/pins.h"
#include "ge/place/place.h"
#include "ge/place/placed.h"
#include "ge/place/priority.h"
#include "ge/plan/routes.h"

namespace ge {
namespace {

// When an engine states no link: a copy by the host, which moves each byte twice, at the speed of
// its memory; and 1 us, which is deliberately modest: an unknown link should not look attractive.
constexpr double kDefaultLinkLatencyNs = 1000.0;
double DefaultLinkBytesPerNs(const MachineRecord& m) { return m.copy_bytes_per_ns[m.isa][2] / 2; }

class RouteBoundary : public PlaceBoundary {
 public:
  explicit RouteBoundary(const Plan& plan) : plan_(plan), routes_(plan) {}
  double Cost(double bytes, uint32_t from_device, uint32_t from_layout, uint32_t to_device,
              uint32_t to_layout) const override {
    return Ns(bytes, {plan_.devices[from_device].domain, from_layout},
              {plan_.devices[to_device].domain, to_layout}, false);
  }
  double CallersCost(double bytes, uint32_t from_device, uint32_t from_layout, uint32_t to_device,
                     uint32_t to_layout) const override {
    return Ns(bytes, {plan_.devices[from_device].domain, from_layout},
              {plan_.devices[to_device].domain, to_layout}, true);
  }

 private:
  double Ns(double bytes, Spot from, Spot to, bool callers) const {
    if (from == to) return 0;
    const Route r = routes_.Find(bytes, from, to, callers);
    return r.possible ? r.ns : std::numeric_limits<double>::infinity();
  }

  const Plan& plan_;
  Routes routes_;
};

struct Choice {
  size_t offer;
  uint32_t choice;
};

void AddValues(const Function& f, PlaceProblem* p) {
  p->values.resize(f.values.size());
  for (uint32_t i = 0; i < f.nodes.size(); ++i) {
    for (ValueId v : f.nodes[i].outputs) p->values[v].producer = static_cast<int32_t>(i);
    for (ValueId v : f.nodes[i].inputs) {
      if (v == 0 || f.values[v].constant) continue;
      auto& users = p->values[v].users;
      if (users.empty() || users.back() != i) users.push_back(i);
    }
  }
  for (ValueId v = 1; v < f.values.size(); ++v) {
    p->values[v].bytes = static_cast<double>(ByteCount(f.values[v].type).value_or(0));
  }
  for (ValueId r : f.results) {
    if (!f.values[r].constant) p->values[r].is_output = true;
  }
  p->values[0] = {};
  for (const auto& [first, then] : OrderEdges(f)) {
    PlaceValue edge;
    edge.producer = static_cast<int32_t>(first);
    edge.users = {then};
    edge.order = true;
    p->values.push_back(std::move(edge));
  }
}

// Nodes that come before or after another by more than values are each a segment of their own, so
// that no engine, which is not told, can run them in another order; and those that `options` names.
std::vector<bool> LonelyNodes(const PlaceProblem& p, const PlaceOptions& options) {
  std::vector<bool> lonely(p.n_node);
  for (const PlaceValue& v : p.values) {
    if (v.order) lonely[static_cast<size_t>(v.producer)] = lonely[v.users[0]] = true;
  }
  for (uint32_t n : options.alone) lonely[n] = true;
  return lonely;
}

void AddOffers(const Plan& plan, const OfferSet& offers, const std::set<size_t>& struck,
               const PlaceOptions& options, PlaceProblem* p, std::vector<Choice>* choices) {
  const std::vector<bool> lonely = LonelyNodes(*p, options);
  for (size_t i = 0; i < offers.offers.size(); ++i) {
    const Offer& o = offers.offers[i];
    const bool alone = !options.fuse || std::any_of(o.nodes.begin(), o.nodes.end(),
                                                    [&](uint32_t n) { return lonely[n]; });
    if (o.convert || struck.count(i) || (alone && o.nodes.size() > 1)) continue;
    for (uint32_t c = 0; c < o.choices.size(); ++c) {
      PlaceOffer out;
      out.nodes = o.nodes;
      out.device = DeviceOf(plan, o);
      out.growable = o.growable && !alone;
      out.setup = o.setup_ns;
      out.marginal = o.choices[c].marginal_ns;
      out.launch = o.launch_ns;
      out.edge_saving = o.edge_saving_ns;
      for (auto [v, l] : o.choices[c].layouts) out.layout.emplace_back(v, l);
      p->offers.push_back(std::move(out));
      choices->push_back({i, c});
    }
  }
}

void Keep(const std::vector<bool>& keep, PlaceProblem* p, std::vector<Choice>* choices) {
  size_t n = 0;
  for (size_t i = 0; i < p->offers.size(); ++i) {
    if (!keep[i]) continue;
    if (n != i) p->offers[n] = std::move(p->offers[i]);
    (*choices)[n++] = (*choices)[i];
  }
  p->offers.resize(n);
  choices->resize(n);
}

// Leaves only offers that no pin forbids.
Status KeepPinned(const Function& f, const Plan& plan, const OfferSet& offers,
                  const PlaceOptions& options, PlaceProblem* p, std::vector<Choice>* choices) {
  if (options.pins.empty()) return {};
  GE_ASSIGN_OR_RETURN(auto bound, ResolvePins(f, plan, options));
  std::vector<bool> keep(p->offers.size(), true), covered(f.nodes.size());
  for (size_t i = 0; i < p->offers.size(); ++i) {
    const PlaceOffer& o = p->offers[i];
    for (uint32_t n : o.nodes) {
      const NodePin& pin = bound[n];
      if (pin.devices.empty()) continue;
      if (std::count(pin.devices.begin(), pin.devices.end(), o.device) == 0) keep[i] = false;
      if (!pin.layout.empty() && !InPinnedLayout(o.layout, pin.layout, plan)) keep[i] = false;
    }
    for (uint32_t n : o.nodes) covered[n] = covered[n] || keep[i];
  }
  for (uint32_t n = 0; n < f.nodes.size(); ++n) {
    if (!bound[n].devices.empty() && !covered[n])
      return NoOfferForPin(f, plan, n, bound[n], offers);
  }
  Keep(keep, p, choices);
  return {};
}

// By device: engines named in `order` first, the others behind in the session's order.
Result<std::vector<uint32_t>> RankDevices(const Plan& plan, const std::vector<std::string>& order) {
  std::vector<uint32_t> rank(plan.devices.size());
  for (DeviceId d = 0; d < plan.devices.size(); ++d) {
    rank[d] = static_cast<uint32_t>(order.size()) + d;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    bool known = false;
    for (DeviceId d = 1; d < plan.devices.size(); ++d) {
      if (plan.engines[plan.devices[d].engine].name != order[i]) continue;
      known = true;
      rank[d] = std::min(rank[d], static_cast<uint32_t>(i));
    }
    if (!known) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the priority order names '{}', which is no engine of this session",
                                order[i]));
    }
  }
  return rank;
}

// "Conv+Relu"; of a longer pattern its beginning and how many nodes it has, since every node of it
// bears the name in its report.
std::string PatternName(const Function& f, const std::vector<uint32_t>& nodes) {
  constexpr size_t kNamed = 48;  // operators; the longest patterns of reference networks have 20
  if (nodes.size() < 2) return "";
  std::string name;
  for (size_t i = 0; i < std::min(nodes.size(), kNamed); ++i) {
    name += (name.empty() ? "" : "+") + f.nodes[nodes[i]].op;
  }
  return nodes.size() > kNamed ? fmt::format("{}+... ({} nodes)", name, nodes.size()) : name;
}

// What every engine said of every node, for explain.
std::vector<NodeReport> Bids(const Function& f, const OfferSet& offers, const Plan& plan) {
  std::vector<NodeReport> report(f.nodes.size());
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    report[i].node = f.nodes[i].id;
    report[i].label = NodeLabel(f.nodes[i]);
    report[i].op = f.nodes[i].op;
  }
  for (const Offer& o : offers.offers) {
    if (o.convert) continue;
    Bid bid;
    bid.device = DeviceOf(plan, o);
    bid.source = o.source;
    bid.pattern = PatternName(f, o.nodes);
    bid.rounds = o.rounds;
    const OfferChoice* best = &o.choices[0];
    for (const OfferChoice& c : o.choices) {
      if (c.marginal_ns < best->marginal_ns) best = &c;
    }
    bid.price_ns = best->marginal_ns + o.setup_ns + o.launch_ns;
    bid.analytic_ns = best->asked_ns;
    bid.measured_ns = best->measured_ns;
    bid.inside_ns = best->inside_ns;
    bid.factor = o.factor;
    for (uint32_t n : o.nodes) report[n].bids.push_back(bid);
  }
  for (const Refusal& r : offers.refusals) {
    Bid bid;
    for (DeviceId d = 1; d < plan.devices.size(); ++d) {
      if (plan.devices[d].engine == r.engine + 1) bid.device = bid.device ? bid.device : d;
    }
    bid.declined = true;
    bid.why = std::string(WhyName(r.why)) + (r.text.empty() ? "" : ": " + r.text);
    report[r.node].bids.push_back(bid);
  }
  return report;
}

Status NobodyTakes(const Plan& plan, const NodeReport& r) {
  std::string reasons;
  std::set<DeviceId> spoke;
  for (const Bid& b : r.bids) {
    if (!b.declined) continue;
    reasons += fmt::format("; {}: {}", plan.engines[plan.devices[b.device].engine].name, b.why);
    spoke.insert(plan.devices[b.device].engine);
  }
  for (size_t e = 1; e < plan.engines.size(); ++e) {
    if (!spoke.count(static_cast<DeviceId>(e))) {
      reasons += fmt::format("; {}: no offer", plan.engines[e].name);
    }
  }
  return Status(Code::kUnsupported,
                fmt::format("no loaded engine takes operator {}{}; load an engine that does (ge "
                            "plugins lists them)",
                            r.op, reasons))
      .AtNode(r.label);
}

void ChooseBids(const Function& f, SegmentId id, const PlanSegment& seg,
                const std::map<NodeId, uint32_t>& position, std::vector<NodeReport>* report) {
  for (const PlanOffer& taken : seg.offers) {
    std::vector<uint32_t> nodes;
    for (NodeId node : taken.nodes) nodes.push_back(position.at(node));
    const std::string pattern = PatternName(f, nodes);
    for (uint32_t n : nodes) {
      NodeReport& r = (*report)[n];
      r.segment = id;
      for (size_t b = 0; b < r.bids.size(); ++b) {
        const Bid& bid = r.bids[b];
        if (bid.declined) continue;
        const bool same = bid.device == seg.device && bid.pattern == pattern;
        if (same && bid.rounds == taken.rounds && r.chosen < 0) {
          r.chosen = static_cast<int32_t>(b);
        } else if (bid.device != seg.device &&
                   (r.runner_up < 0 || bid.price_ns < r.bids[r.runner_up].price_ns)) {
          r.runner_up = static_cast<int32_t>(b);
        }
      }
    }
  }
}

// Topological order of a group's offers; ties by their last node.
void OrderOffers(const Function& f, const PlaceProblem& problem, std::vector<uint32_t>* offers) {
  if (offers->size() < 2) return;
  std::map<uint32_t, size_t> maker;  // node -> place in *offers
  for (size_t i = 0; i < offers->size(); ++i) {
    for (uint32_t n : problem.offers[(*offers)[i]].nodes) maker[n] = i;
  }
  std::vector<std::set<size_t>> next(offers->size());
  std::vector<size_t> waiting(offers->size());
  for (auto [node, i] : maker) {
    for (ValueId v : f.nodes[node].inputs) {
      int32_t producer = problem.values[v].producer;
      auto it = producer < 0 ? maker.end() : maker.find(static_cast<uint32_t>(producer));
      if (it != maker.end() && it->second != i && next[it->second].insert(i).second) ++waiting[i];
    }
  }
  auto later = [&](size_t i) { return problem.offers[(*offers)[i]].nodes.back(); };
  std::set<std::pair<uint32_t, size_t>> ready;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) ready.emplace(later(i), i);
  }
  std::vector<uint32_t> order;
  while (!ready.empty()) {
    size_t i = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back((*offers)[i]);
    for (size_t j : next[i]) {
      if (--waiting[j] == 0) ready.emplace(later(j), j);
    }
  }
  if (order.size() == offers->size()) *offers = std::move(order);  // Else CoverCost refused it.
}

// The groups of a cover that was made of other offers; nullopt when one of these is not made now.
std::optional<std::vector<PlaceGroup>> GroupsOf(const Function& f, const Plan& plan,
                                                const OfferSet& offers, const PlaceProblem& problem,
                                                const std::vector<Choice>& choices,
                                                const std::vector<PlaceSegment>& cover) {
  std::map<std::pair<size_t, uint32_t>, uint32_t> place_of;
  for (uint32_t k = 0; k < choices.size(); ++k) {
    place_of[{choices[k].offer, choices[k].choice}] = k;
  }
  std::vector<PlaceGroup> groups;
  for (const PlaceSegment& segment : cover) {
    PlaceGroup group;
    for (const PlaceSegment::Taken& taken : segment.offers) {
      const auto it = place_of.find({taken.offer, taken.choice});
      if (it == place_of.end()) return std::nullopt;
      const std::vector<uint32_t>& nodes = offers.offers[taken.offer].nodes;
      const bool same =
          std::equal(nodes.begin(), nodes.end(), taken.nodes.begin(), taken.nodes.end(),
                     [&](uint32_t n, uint32_t id) { return f.nodes[n].id == id; });
      group.device = problem.offers[it->second].device;
      if (!same || plan.devices[group.device].name != segment.device) return std::nullopt;
      group.offers.push_back(it->second);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// Whether states may lie elsewhere than at the host.
bool StatesHaveHomes(const Plan& plan, const PlaceOptions& options) {
  return !options.states.empty() && plan.domains.size() > 1;
}

// Gives states the homes that a cover makes for them.
void SetHomes(const Function& f, const Plan& plan, const PlaceOptions& options,
              const std::vector<PlaceGroup>& groups, PlaceProblem* problem) {
  if (!StatesHaveHomes(plan, options)) return;
  std::vector<DeviceId> device_of(f.nodes.size());
  for (const PlaceGroup& group : groups) {
    for (uint32_t k : group.offers) {
      for (uint32_t n : problem->offers[k].nodes) device_of[n] = group.device;
    }
  }
  const std::vector<DeviceId> homes = HomesOfStates(f, options.states, device_of, plan);
  for (size_t s = 0; s < homes.size(); ++s) {
    const StateValues& state = options.states[s];
    for (ValueId v : {state.before, state.after}) {
      if (v != 0) problem->values[v].home = homes[s];
    }
  }
}

// The cheapest of three covers, each at the homes that it makes: that of states at the host, that
// of states which cost nothing anywhere, and the best one at the homes of that.
Result<PlaceSolution> SolveWithStates(const Function& f, const Plan& plan,
                                      const PlaceOptions& options, PlaceProblem* problem) {
  std::optional<PlaceSolution> best;
  const auto compare = [&](PlaceSolution found) -> Status {
    SetHomes(f, plan, options, found.groups, problem);
    GE_ASSIGN_OR_RETURN(found.cost, CoverCost(*problem, found.groups));
    if (!best || found.cost < best->cost) best = std::move(found);
    return {};
  };
  GE_ASSIGN_OR_RETURN(PlaceSolution at_host, SolvePlacement(*problem));
  GE_RETURN_IF_ERROR(compare(std::move(at_host)));
  const auto set_free = [&](bool free) {
    for (const StateValues& s : options.states) {
      for (ValueId v : {s.before, s.after}) problem->values[v].order = free;
    }
  };
  set_free(true);
  Result<PlaceSolution> anywhere = SolvePlacement(*problem);
  set_free(false);
  GE_RETURN_IF_ERROR(anywhere.status());
  GE_RETURN_IF_ERROR(compare(*std::move(anywhere)));
  GE_ASSIGN_OR_RETURN(PlaceSolution at_home, SolvePlacement(*problem));
  GE_RETURN_IF_ERROR(compare(std::move(at_home)));
  SetHomes(f, plan, options, best->groups, problem);
  return *std::move(best);
}

// The cover that the caller gives, if every offer of it is made again and it is legal.
std::optional<PlaceSolution> Covered(const Function& f, const Plan& plan,
                                     const PlaceOptions& options,
                                     std::optional<std::vector<PlaceGroup>> groups,
                                     PlaceProblem* problem) {
  if (!groups) return std::nullopt;
  SetHomes(f, plan, options, *groups, problem);
  const auto cost = CoverCost(*problem, *groups);
  if (!cost.ok()) return std::nullopt;
  PlaceSolution out;
  out.groups = *std::move(groups);
  out.cost = *cost;
  out.method = options.cover_method;
  return out;
}

// The plan's segments and reports, from a solution.
Status Take(const Graph& graph, const Function& f, const OfferSet& offers,
            const PlaceProblem& problem, const std::vector<Choice>& choices, PlaceSolution solution,
            Plan* plan) {
  plan->graph_name = graph.name;
  plan->predicted_ns = solution.cost;
  plan->place_method = solution.method;
  plan->functions.assign(1, {});
  PlanFunction& out = plan->functions[0];
  out.name = f.name;
  std::map<NodeId, uint32_t> position;
  for (uint32_t i = 0; i < f.nodes.size(); ++i) position[f.nodes[i].id] = i;
  for (PlaceGroup& group : solution.groups) {
    OrderOffers(f, problem, &group.offers);
    PlanSegment seg;
    seg.device = group.device;
    for (uint32_t k : group.offers) {
      const Offer& o = offers.offers[choices[k].offer];
      PlanOffer taken;
      for (uint32_t n : o.nodes) taken.nodes.push_back(f.nodes[n].id);
      taken.rounds = o.rounds;
      taken.cookie = o.cookie;
      taken.choice = choices[k].choice;
      taken.const_align = o.const_align;
      taken.setup_ns = o.setup_ns;
      taken.launch_ns = o.launch_ns;
      taken.marginal_ns = o.choices[choices[k].choice].marginal_ns;
      taken.edge_saving_ns = o.edge_saving_ns;
      taken.layouts = o.choices[choices[k].choice].layouts;
      taken.offer_index = static_cast<uint32_t>(choices[k].offer);
      seg.offers.push_back(std::move(taken));
    }
    ChooseBids(f, static_cast<SegmentId>(out.segments.size()), seg, position, &plan->report);
    out.segments.push_back(std::move(seg));
  }
  return {};
}

}  // namespace

DeviceId DeviceOf(const Plan& plan, const Offer& offer) {
  for (DeviceId d = 1; d < plan.devices.size(); ++d) {
    if (plan.devices[d].engine == offer.engine + 1 &&
        plan.devices[d].engine_device == offer.device) {
      return d;
    }
  }
  return 0;
}

// The device's domain of page-locked host memory, by index; 0 = it has none.
static uint32_t PinnedOf(const EngineDevice& device) {
  for (uint32_t i = 1; i < device.domains.size(); ++i) {
    if (device.domains[i].flags & GE_MEM_PINNED) return i;
  }
  return 0;
}

// Links between an engine's page-locked memory and its devices: ways between host and device for
// what lies in the host's arena, or is brought there.
static void AddPinnedLinks(const Engine& engine, uint32_t number,
                           const std::map<std::string, DomainId>& domain_of,
                           const MachineRecord& machine, Plan* plan) {
  for (const EngineDevice& device : engine.devices()) {
    const uint32_t at = PinnedOf(device);
    if (at == 0) continue;
    const std::string& pinned = device.domains[at].id;
    const DomainId own = domain_of.at(device.domains[0].id);
    for (const EngineLink& l : engine.links()) {
      const bool to = l.from == pinned && l.to == device.domains[0].id;
      const bool back = l.to == pinned && l.from == device.domains[0].id;
      if (!to && !back) continue;
      plan->links.push_back({to ? 0 : own, to ? own : 0, number, l.latency_ns, l.bytes_per_ns,
                             DefaultLinkBytesPerNs(machine)});
    }
  }
}

Status DescribeEngines(const EngineList& engines, const MachineRecord& machine, Plan* plan) {
  plan->engines = {PlanEngine{"host", "", ""}};
  plan->devices = {PlanDevice{0, 0, "host", 0, false, 1}};
  plan->domains = {PlanDomain{"host", 0, 0, 64, GE_MEM_HOST_VISIBLE | GE_MEM_COHERENT}};
  if (plan->layouts.empty()) plan->layouts.emplace_back();
  std::map<std::string, DomainId> domain_of{{"", 0}};
  for (uint32_t e = 0; e < engines.size(); ++e) {
    const Engine& engine = *engines[e];
    plan->engines.push_back({engine.name(), engine.plugin().version, engine.plugin().hash});
    for (uint32_t d = 0; d < engine.devices().size(); ++d) {
      const EngineDevice& device = engine.devices()[d];
      const EngineDomain& own = device.domains[0];
      auto [it, fresh] = domain_of.emplace(own.id, static_cast<DomainId>(plan->domains.size()));
      if (fresh) {
        plan->domains.push_back(
            {engine.name() + "/" + device.name, e + 1, d, own.align, own.flags});
      }
      plan->devices.push_back({e + 1, d, engine.name() + "/" + device.name, it->second,
                               (device.flags & GE_DEVICE_ASYNC) != 0, device.max_streams,
                               PinnedOf(device)});
    }
  }
  for (uint32_t e = 0; e < engines.size(); ++e) {
    AddPinnedLinks(*engines[e], e + 1, domain_of, machine, plan);
    for (const EngineLink& l : engines[e]->links()) {
      auto from = domain_of.find(l.from), to = domain_of.find(l.to);
      if (from == domain_of.end() || to == domain_of.end() || from == to) continue;
      plan->links.push_back({from->second, to->second, e + 1, l.latency_ns, l.bytes_per_ns});
    }
  }
  for (DomainId d = 1; d < plan->domains.size(); ++d) {
    for (const auto& way : {std::pair<DomainId, DomainId>{0, d}, {d, 0}}) {
      bool stated = std::any_of(plan->links.begin(), plan->links.end(), [&](const PlanLink& l) {
        return std::pair(l.from, l.to) == way && l.staging_bytes_per_ns == 0;
      });
      if (!stated) {
        plan->links.push_back({way.first, way.second, plan->domains[d].engine,
                               kDefaultLinkLatencyNs, DefaultLinkBytesPerNs(machine)});
      }
    }
  }
  return {};
}

void DescribeConversions(const OfferSet& offers, Plan* plan) {
  for (const Offer& o : offers.offers) {
    if (!o.convert) continue;
    plan->conversions.push_back({DeviceOf(*plan, o), o.convert_from, o.convert_to, o.cookie,
                                 o.setup_ns + o.launch_ns, o.convert_ns_per_byte});
  }
}

Status Place(const Graph& graph, const Function& f, const OfferSet& offers,
             const std::set<size_t>& struck, const PlaceOptions& options, Plan* plan) {
  PlaceProblem problem;
  problem.n_node = static_cast<uint32_t>(f.nodes.size());
  problem.n_device = static_cast<uint32_t>(plan->devices.size());
  std::vector<Choice> choices;
  AddValues(f, &problem);
  AddOffers(*plan, offers, struck, options, &problem, &choices);
  RouteBoundary boundary(*plan);
  problem.boundary = &boundary;
  plan->report = Bids(f, offers, *plan);
  if (!options.cover.empty()) {
    auto known = Covered(f, *plan, options,
                         GroupsOf(f, *plan, offers, problem, choices, options.cover), &problem);
    if (known) return Take(graph, f, offers, problem, choices, *std::move(known), plan);
    for (PlaceValue& v : problem.values) v.home = 0;
  }
  GE_RETURN_IF_ERROR(KeepPinned(f, *plan, offers, options, &problem, &choices));
  std::vector<bool> covered(f.nodes.size());
  for (const PlaceOffer& o : problem.offers) {
    for (uint32_t n : o.nodes) covered[n] = true;
  }
  for (size_t i = 0; i < covered.size(); ++i) {
    if (!covered[i]) return NobodyTakes(*plan, plan->report[i]);
  }
  if (options.policy == PlacePolicy::kPriority) {
    GE_ASSIGN_OR_RETURN(const std::vector<uint32_t> rank, RankDevices(*plan, options.order));
    Keep(KeepByPriority(problem, rank), &problem, &choices);
  }
  ++plan->searches;
  GE_ASSIGN_OR_RETURN(PlaceSolution solution, StatesHaveHomes(*plan, options)
                                                  ? SolveWithStates(f, *plan, options, &problem)
                                                  : SolvePlacement(problem));
  std::vector<bool> async;
  for (const PlanDevice& d : plan->devices) async.push_back(d.async);
  GE_RETURN_IF_ERROR(SplitForOverlap(problem, async, &solution));
  if (options.policy == PlacePolicy::kPriority) solution.method = "priority, " + solution.method;
  return Take(graph, f, offers, problem, choices, std::move(solution), plan);
}

Result<double> PriceOfPlan(const Function& f, const OfferSet& offers, const Plan& described,
                           const PlanFunction& planned, const PlaceOptions& options) {
  PlaceProblem problem;
  problem.n_node = static_cast<uint32_t>(f.nodes.size());
  problem.n_device = static_cast<uint32_t>(described.devices.size());
  std::vector<Choice> choices;
  AddValues(f, &problem);
  AddOffers(described, offers, {}, options, &problem, &choices);
  RouteBoundary boundary(described);
  problem.boundary = &boundary;
  const auto groups = GroupsOf(f, described, offers, problem, choices, CoverOf(described, planned));
  if (!groups) {
    return Status(Code::kFailedPrecondition, "the plan takes an offer that is not made now");
  }
  SetHomes(f, described, options, *groups, &problem);
  return CoverCost(problem, *groups);
}

}  // namespace ge
