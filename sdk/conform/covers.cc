#include "covers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace ge::conform {
namespace {

using mock::Answer;
using mock::Graph;
using mock::Offer;
using mock::Taken;

bool Has(const std::vector<uint32_t>& list, uint32_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

// Values that one of `a` makes and one of `b` reads.
std::vector<uint32_t> Between(const Graph& g, const std::vector<uint32_t>& a,
                              const std::vector<uint32_t>& b) {
  std::vector<uint32_t> out;
  for (uint32_t n : a) {
    for (uint32_t v : g.nodes[n].out) {
      for (uint32_t m : b) {
        if (v != 0 && Has(g.nodes[m].in, v)) out.push_back(v);
      }
    }
  }
  return out;
}

bool IsConnected(const Graph& g, const std::vector<uint32_t>& nodes) {
  std::set<uint32_t> reached = {nodes[0]};
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t n : nodes) {
      if (reached.count(n) != 0) continue;
      for (uint32_t m : reached) {
        // Two that read one value belong together, too.
        bool joined = !Between(g, {m}, {n}).empty() || !Between(g, {n}, {m}).empty();
        for (uint32_t v : g.nodes[n].in) joined |= v != 0 && Has(g.nodes[m].in, v);
        if (!joined) continue;
        reached.insert(n);
        moved = true;
        break;
      }
    }
  }
  return reached.size() == nodes.size();
}

// Whether the offer may join the group: along an edge on which both have the same layout.
bool Touches(const Graph& g, const Answer& answer, const Group& group, const Taken& t) {
  const Offer& o = answer.offers[t.offer];
  for (const Taken& member : group) {
    const Offer& m = answer.offers[member.offer];
    if (!m.growable() || m.device != o.device) return false;
  }
  for (const Taken& member : group) {
    const Offer& m = answer.offers[member.offer];
    std::vector<uint32_t> edges = Between(g, m.nodes, o.nodes);
    const std::vector<uint32_t> back = Between(g, o.nodes, m.nodes);
    edges.insert(edges.end(), back.begin(), back.end());
    for (uint32_t v : edges) {
      if (mock::LayoutOf(answer, t, v) == mock::LayoutOf(answer, member, v)) return true;
    }
  }
  return false;
}

}  // namespace

std::string PatternFault(const Graph& graph, const Offer& offer) {
  if (offer.nodes.size() < 2) return "";
  if (!IsConnected(graph, offer.nodes)) {
    return fmt::format("a pattern of nodes {} is not connected", fmt::join(offer.nodes, ", "));
  }
  Answer alone;
  alone.offers = {offer};
  if (IsOrdered(graph, alone, {{{0, 0}}})) return "";
  return fmt::format("a pattern of nodes {} leaves out a node between them",
                     fmt::join(offer.nodes, ", "));
}

std::vector<Group> RandomCover(const Graph& graph, const Answer& answer, double take, double grow,
                               Random* random) {
  std::vector<Group> groups;
  std::vector<bool> taken(graph.nodes.size());
  std::vector<uint32_t> order(answer.offers.size());
  std::iota(order.begin(), order.end(), 0u);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<size_t>(random->Int(0, static_cast<int64_t>(i) - 1))]);
  }
  for (uint32_t i : order) {
    const Offer& o = answer.offers[i];
    if (o.converts() || !random->Chance(take)) continue;
    if (std::any_of(o.nodes.begin(), o.nodes.end(), [&](uint32_t n) { return taken[n]; })) continue;
    const int64_t last = o.choices.empty() ? 0 : static_cast<int64_t>(o.choices.size()) - 1;
    const Taken t{i, static_cast<uint32_t>(random->Int(0, last))};
    bool joined = false;
    for (Group& group : groups) {
      if (!o.growable() || !random->Chance(grow) || !Touches(graph, answer, group, t)) continue;
      group.push_back(t);
      joined = IsOrdered(graph, answer, groups);
      if (joined) break;
      group.pop_back();
    }
    if (!joined) {
      groups.push_back({t});
      if (!IsOrdered(graph, answer, groups)) {
        groups.pop_back();
        continue;
      }
    }
    for (uint32_t n : o.nodes) taken[n] = true;
  }
  return groups;
}

}  // namespace ge::conform
