#include "ge/place/cover.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace ge::place {
namespace {

Status Illegal(std::string what) {
  return Status(Code::kInternal, "placement cover: " + std::move(what));
}

Status CheckShape(const Model& m, const std::vector<PlaceGroup>& groups, Owner* owner) {
  owner->offer.assign(m.n_node, kNone);
  owner->group.assign(m.n_node, kNone);
  for (uint32_t g = 0; g < groups.size(); ++g) {
    if (groups[g].offers.empty()) return Illegal(fmt::format("group {} is empty", g));
    for (uint32_t o : groups[g].offers) {
      if (o >= m.offers.size()) {
        return Illegal(fmt::format("group {} takes offer {} of {}", g, o, m.offers.size()));
      }
      const ModelOffer& offer = m.offers[o];
      if (offer.device != groups[g].device) {
        return Illegal(fmt::format("group {} of device {} takes offer {} of device {}", g,
                                   groups[g].device, o, offer.device));
      }
      if (groups[g].offers.size() > 1 && !offer.growable) {
        return Illegal(fmt::format("group {} joins offer {}, which does not grow", g, o));
      }
      for (const OfferPart& part : offer.parts) {
        if (owner->offer[part.node] != kNone) {
          return Illegal(fmt::format("node {} is covered by offers {} and {}", part.node,
                                     owner->offer[part.node], o));
        }
        owner->offer[part.node] = o;
        owner->group[part.node] = g;
      }
    }
  }
  for (uint32_t n = 0; n < m.n_node; ++n) {
    if (owner->offer[n] == kNone) return Illegal(fmt::format("node {} is not covered", n));
  }
  return Status();
}

Status CheckConnected(const Model& m, const std::vector<PlaceGroup>& groups, const Owner& owner) {
  std::vector<uint32_t> root(m.offers.size());
  std::iota(root.begin(), root.end(), 0);
  auto find = [&root](uint32_t x) {
    while (root[x] != x) x = root[x] = root[root[x]];
    return x;
  };
  for (const ModelValue& value : m.values) {
    if (value.producer < 0) continue;
    for (uint32_t user : value.users) {
      if (owner.group[value.producer] != owner.group[user]) continue;
      root[find(owner.offer[value.producer])] = find(owner.offer[user]);
    }
  }
  for (uint32_t g = 0; g < groups.size(); ++g) {
    for (uint32_t o : groups[g].offers) {
      if (find(o) != find(groups[g].offers[0])) {
        return Illegal(fmt::format("group {}: offers {} and {} are not connected inside it", g,
                                   groups[g].offers[0], o));
      }
    }
  }
  return Status();
}

// Kahn's algorithm on the quotient of the nodes by `label` (below n). Smallest rank first, so that
// the result is the same on every machine. False when cyclic.
bool SortQuotient(const Model& m, const std::vector<uint32_t>& label, uint32_t n,
                  std::vector<uint32_t>* order) {
  std::vector<std::vector<uint32_t>> next(n);
  std::vector<uint32_t> waits(n, 0), rank(n, kNone);
  for (const ModelValue& value : m.values) {
    if (value.producer < 0) continue;
    const uint32_t from = label[value.producer];
    for (uint32_t user : value.users) {
      if (label[user] == from) continue;
      next[from].push_back(label[user]);
      ++waits[label[user]];
    }
  }
  for (uint32_t node = 0; node < m.n_node; ++node) {
    rank[label[node]] = std::min(rank[label[node]], m.position[node]);
  }
  using Item = std::pair<uint32_t, uint32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> ready;
  for (uint32_t i = 0; i < n; ++i) {
    if (waits[i] == 0) ready.emplace(rank[i], i);
  }
  order->clear();
  while (!ready.empty()) {
    const uint32_t i = ready.top().second;
    ready.pop();
    order->push_back(i);
    for (uint32_t j : next[i]) {
      if (--waits[j] == 0) ready.emplace(rank[j], j);
    }
  }
  return order->size() == n;
}

}  // namespace

double ValueCost(const Model& m, const Owner& owner, uint32_t v) {
  const ModelValue& value = m.values[v];
  // Where it is, it stays: nothing to add up over an input that all of a large graph reads.
  if (value.producer < 0 && value.places.size() == 1) return 0;
  auto place_in = [&](uint32_t node) {
    const Touch* t = TouchOf(PartAt(m, m.offers[owner.offer[node]], node).reads, v);
    return t ? t->place : 0u;
  };
  uint32_t from = 0;
  if (value.producer >= 0) {
    const uint32_t maker = static_cast<uint32_t>(value.producer);
    const Touch* t = TouchOf(PartAt(m, m.offers[owner.offer[maker]], maker).gives, v);
    if (t) from = t->place;
  }
  double cost = 0;
  bool saved = false;
  std::vector<uint32_t> brought;  // stays empty, and so costs nothing, in most plans
  auto bring = [&](uint32_t to) {
    if (to == from || std::find(brought.begin(), brought.end(), to) != brought.end()) return;
    brought.push_back(to);
    cost += value.Cost(from, to);
  };
  for (uint32_t user : value.users) {
    if (value.producer < 0 || owner.group[user] != owner.group[value.producer]) {
      bring(place_in(user));
    } else if (owner.offer[user] != owner.offer[value.producer] && !saved) {
      saved = true;
      cost -= m.offers[owner.offer[value.producer]].edge_saving;
    }
  }
  if (value.is_output) bring(0);
  return cost;
}

double GroupPrice(const Model& m, const std::vector<uint32_t>& offers) {
  double setup = 0, launch = 0, sum = 0;
  for (uint32_t o : offers) {
    setup = std::max(setup, m.offers[o].setup);
    launch = std::max(launch, m.offers[o].launch);
    sum += m.offers[o].marginal;
  }
  return sum + setup + launch;
}

bool SortGroups(const Model& m, std::vector<PlaceGroup>* groups) {
  std::vector<uint32_t> by_group(m.n_node), by_offer(m.n_node), offer_group, offer_id;
  for (uint32_t g = 0; g < groups->size(); ++g) {
    for (uint32_t o : (*groups)[g].offers) {
      for (const OfferPart& part : m.offers[o].parts) {
        by_group[part.node] = g;
        by_offer[part.node] = static_cast<uint32_t>(offer_id.size());
      }
      offer_id.push_back(o);
      offer_group.push_back(g);
    }
  }
  std::vector<uint32_t> group_order, offer_order;
  if (!SortQuotient(m, by_group, static_cast<uint32_t>(groups->size()), &group_order)) return false;
  if (!SortQuotient(m, by_offer, static_cast<uint32_t>(offer_id.size()), &offer_order)) {
    return false;
  }
  std::vector<PlaceGroup> sorted(groups->size());
  std::vector<uint32_t> where(groups->size());
  for (uint32_t i = 0; i < group_order.size(); ++i) {
    where[group_order[i]] = i;
    sorted[i].device = (*groups)[group_order[i]].device;
  }
  for (uint32_t i : offer_order) sorted[where[offer_group[i]]].offers.push_back(offer_id[i]);
  *groups = std::move(sorted);
  return true;
}

Result<double> Evaluate(const Model& m, const std::vector<PlaceGroup>& groups) {
  Owner owner;
  GE_RETURN_IF_ERROR(CheckShape(m, groups, &owner));
  GE_RETURN_IF_ERROR(CheckConnected(m, groups, owner));
  std::vector<PlaceGroup> copy = groups;
  if (!SortGroups(m, &copy)) return Illegal("its groups, or offers inside one, form a cycle");
  double cost = 0;
  for (const PlaceGroup& group : groups) cost += GroupPrice(m, group.offers);
  for (uint32_t v = 0; v < m.values.size(); ++v) cost += ValueCost(m, owner, v);
  return cost;
}

}  // namespace ge::place
