#include "ge/compile/decompose/whole_nodes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "ge/compile/decompose/expansion.h"
#include "ge/compile/decompose/structure_hash.h"
#include "ge/place/from_offers.h"

namespace ge {
namespace {

constexpr double kNobody = std::numeric_limits<double>::infinity();

// The parts of some nodes as a function of their own.
Function PartsAlone(const Graph& g, FunctionId fn, const std::vector<Expansion>& expansions) {
  const Function& from = g.fn(fn);
  std::set<NodeId> parts;
  for (const Expansion& e : expansions) parts.insert(e.parts.begin(), e.parts.end());
  Function f;
  f.name = from.name;
  f.values = from.values;
  std::set<ValueId> made, read;
  for (const Node& n : from.nodes) {
    if (parts.count(n.id) == 0) continue;
    f.nodes.push_back(n);
    f.nodes.back().after.clear();
    made.insert(n.outputs.begin(), n.outputs.end());
    read.insert(n.inputs.begin(), n.inputs.end());
  }
  for (const ValueId v : read) {
    if (v && !f.value(v).constant && made.count(v) == 0) f.params.push_back(v);
  }
  for (const Expansion& e : expansions) f.results.insert(f.results.end(), e.to.begin(), e.to.end());
  return f;
}

// The least that each node is offered for in a domain, as LeastOf has it: by itself, or, of parts,
// by any offer less what it saves, and as if all joined others. Offers are looked at where they
// are: copying them took longer than asking for them.
std::vector<double> LeastIn(DomainId domain, const OfferSet& offers, const Plan& plan,
                            bool of_parts, size_t nodes) {
  std::vector<double> least(nodes, kNobody);
  for (const Offer& o : offers.offers) {
    if (o.convert || o.nodes.empty() || (!of_parts && o.nodes.size() > 1)) continue;
    if (plan.devices[DeviceOf(plan, o)].domain != domain) continue;
    for (const OfferChoice& c : o.choices) {
      const double ns = of_parts     ? std::max(0.0, c.marginal_ns - o.edge_saving_ns)
                        : o.growable ? c.marginal_ns
                                     : c.marginal_ns + (o.setup_ns + o.launch_ns);
      const double share = ns / static_cast<double>(o.nodes.size());
      for (uint32_t n : o.nodes) least[n] = std::min(least[n], share);
    }
  }
  return least;
}

// Nodes that read constants alone are folded before they would run.
std::vector<bool> Folded(const Function& f) {
  std::vector<bool> known(f.values.size()), out;
  for (ValueId v = 1; v < f.values.size(); ++v) known[v] = f.value(v).constant != 0;
  for (const Node& n : f.nodes) {
    out.push_back(std::all_of(n.inputs.begin(), n.inputs.end(),
                              [&](ValueId v) { return v == 0 || known[v]; }));
    for (const ValueId v : n.outputs) known[v] = out.back();
  }
  return out;
}

class Floors {
 public:
  Floors(const Function& f, const OfferSet& offers, const Plan& plan) : folded_(Folded(f)) {
    for (uint32_t i = 0; i < f.nodes.size(); ++i) at_[f.nodes[i].id] = i;
    least_.assign(f.nodes.size(), kNobody);
    for (const PlanDevice& d : plan.devices) {
      if (by_domain_.count(d.domain) > 0) continue;
      const auto& here = by_domain_[d.domain] =
          LeastIn(d.domain, offers, plan, true, f.nodes.size());
      for (size_t i = 0; i < here.size(); ++i) least_[i] = std::min(least_[i], here[i]);
    }
  }

  // The least for the parts where the domain's devices take what they do; infinite where they take
  // none of them.
  double Of(DomainId domain, const Expansion& e) const {
    const std::vector<double>& here = by_domain_.at(domain);
    double sum = 0;
    bool any = false;
    for (const NodeId part : e.parts) {
      const auto at = at_.find(part);
      if (at == at_.end() || folded_[at->second]) continue;  // it will be a constant
      const uint32_t i = at->second;
      any = any || std::isfinite(here[i]);
      sum += std::isfinite(here[i]) ? here[i] : least_[i];
    }
    return any ? sum : kNobody;
  }

 private:
  const std::vector<bool> folded_;
  std::map<NodeId, uint32_t> at_;
  std::map<DomainId, std::vector<double>> by_domain_;
  std::vector<double> least_;
};

}  // namespace

Result<std::unordered_map<NodeId, WholePrice>> WholeNodes(const Graph& graph, FunctionId fn,
                                                          const std::vector<NodeId>& candidates,
                                                          const OfferSet& whole,
                                                          const AskEngines& ask, Plan* plan) {
  const Function& f = graph.fn(fn);
  std::map<uint64_t, NodeId> first;  // of nodes that are alike
  std::unordered_map<NodeId, NodeId> like;
  std::unordered_map<NodeId, uint32_t> position;
  for (uint32_t i = 0; i < f.nodes.size(); ++i) position[f.nodes[i].id] = i;
  for (const NodeId id : candidates) {
    const Node& n = f.nodes[position.at(id)];
    like[id] = first.emplace(KeyOfNode(f, n), id).first->second;
  }
  std::vector<NodeId> asked;
  for (const auto& [key, id] : first) asked.push_back(id);
  std::sort(asked.begin(), asked.end());
  Graph apart = graph;
  GE_ASSIGN_OR_RETURN(const std::vector<Expansion> expansions, ExpandToAsk(&apart, fn, asked));
  const Function parts = PartsAlone(apart, fn, expansions);
  std::unordered_map<NodeId, WholePrice> out;
  if (parts.nodes.empty()) return out;
  OfferSet offers;
  GE_RETURN_IF_ERROR(ask(apart, parts, &plan->layouts, &offers));
  const Floors floors(parts, offers, *plan);
  std::unordered_map<NodeId, const Expansion*> by_node;
  for (const Expansion& e : expansions) by_node[e.node] = &e;
  std::map<DomainId, std::vector<double>> alone;
  for (const PlanDevice& d : plan->devices) {
    if (alone.count(d.domain) > 0) continue;
    alone[d.domain] = LeastIn(d.domain, whole, *plan, false, f.nodes.size());
  }
  for (const NodeId id : candidates) {
    const auto found = by_node.find(like.at(id));
    if (found == by_node.end()) continue;
    WholePrice nearest{0, kNobody};
    bool plain = true;
    for (const auto& [domain, prices] : alone) {
      const double floor = floors.Of(domain, *found->second), price = prices[position.at(id)];
      plain = plain && (std::isinf(floor) || price <= floor);
      if (floor - price < nearest.parts_ns - nearest.whole_ns) nearest = {price, floor};
    }
    if (plain && std::isfinite(nearest.parts_ns)) out[id] = nearest;
  }
  return out;
}

}  // namespace ge
