#include "ge/place/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace ge::place {
namespace {

Status Bad(std::string what) {
  return Status(Code::kInternal, "placement problem: " + std::move(what));
}

Status CheckValues(const PlaceProblem& p) {
  for (size_t v = 0; v < p.values.size(); ++v) {
    const PlaceValue& value = p.values[v];
    if (value.producer < -1 || value.producer >= static_cast<int64_t>(p.n_node)) {
      return Bad(fmt::format("value {} has producer {}, want -1 or a node below {}", v,
                             value.producer, p.n_node));
    }
    if (value.home >= p.n_device) {
      return Bad(
          fmt::format("value {} has home {}, want a device below {}", v, value.home, p.n_device));
    }
    if (!(value.bytes >= 0) || std::isinf(value.bytes)) {
      return Bad(fmt::format("value {} has {} bytes, want a finite number >= 0", v, value.bytes));
    }
    std::vector<uint32_t> users = value.users;
    std::sort(users.begin(), users.end());
    for (size_t i = 0; i < users.size(); ++i) {
      if (users[i] >= p.n_node || (i > 0 && users[i] == users[i - 1])) {
        return Bad(fmt::format("value {} has user {}, want each once and below {}", v, users[i],
                               p.n_node));
      }
    }
  }
  return Status();
}

Status CheckOffers(const PlaceProblem& p) {
  for (size_t i = 0; i < p.offers.size(); ++i) {
    const PlaceOffer& o = p.offers[i];
    if (o.device >= p.n_device) {
      return Bad(
          fmt::format("offer {} names device {}, want one below {}", i, o.device, p.n_device));
    }
    if (o.nodes.empty()) return Bad(fmt::format("offer {} covers no node", i));
    for (size_t k = 0; k < o.nodes.size(); ++k) {
      if (o.nodes[k] >= p.n_node || (k > 0 && o.nodes[k] <= o.nodes[k - 1])) {
        return Bad(fmt::format("offer {} covers node {}, want ascending nodes below {}", i,
                               o.nodes[k], p.n_node));
      }
    }
    // Savings and fixed prices below zero would make every bound of the search wrong.
    if (std::isnan(o.marginal) || o.marginal == -kInfinity || !(o.setup >= 0) || !(o.launch >= 0) ||
        !(o.edge_saving >= 0) || std::isinf(o.edge_saving)) {
      return Bad(fmt::format(
          "offer {} of device {} has marginal {}, setup {}, launch {}, saving {} ns; want numbers, "
          "the last three >= 0",
          i, o.device, o.marginal, o.setup, o.launch, o.edge_saving));
    }
    for (const auto& [value, layout] : o.layout) {
      if (value >= p.values.size()) {
        return Bad(fmt::format("offer {} wants a layout for value {}, want one below {}", i, value,
                               p.values.size()));
      }
    }
  }
  return Status();
}

Status CheckProblem(const PlaceProblem& p) {
  if (p.boundary == nullptr) return Bad("no boundary prices");
  if (p.n_device == 0) return Bad("no device; device 0 is the host");
  GE_RETURN_IF_ERROR(CheckValues(p));
  return CheckOffers(p);
}

bool SameDomain(const PlaceBoundary& b, uint32_t x, uint32_t y) {
  // One byte finds a latency, a megabyte finds a bandwidth.
  for (double bytes : {1.0, 1048576.0}) {
    if (b.Cost(bytes, x, 0, y, 0) != 0 || b.Cost(bytes, y, 0, x, 0) != 0) return false;
  }
  return true;
}

void FindDomains(const PlaceProblem& p, Model* m) {
  m->domain.resize(p.n_device);
  for (uint32_t d = 0; d < p.n_device; ++d) {
    m->domain[d] = d;
    for (uint32_t e = 0; e < d; ++e) {
      if (m->domain[e] == e && SameDomain(*p.boundary, e, d)) {
        m->domain[d] = e;
        break;
      }
    }
  }
}

// Sorted by value; of several for one value the first counts.
std::vector<std::pair<uint32_t, uint32_t>> SortedLayouts(const PlaceOffer& offer) {
  auto sorted = offer.layout;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return sorted;
}

uint32_t LayoutOf(const std::vector<std::pair<uint32_t, uint32_t>>& sorted, uint32_t value) {
  const auto it = std::partition_point(sorted.begin(), sorted.end(),
                                       [value](const auto& l) { return l.first < value; });
  return it != sorted.end() && it->first == value ? it->second : 0;
}

uint32_t InternPlace(ModelValue* value, uint32_t domain, uint32_t layout) {
  const std::pair<uint32_t, uint32_t> place(domain, layout);
  auto it = std::find(value->places.begin(), value->places.end(), place);
  if (it == value->places.end()) it = value->places.insert(it, place);
  return static_cast<uint32_t>(it - value->places.begin());
}

void IndexOffer(const PlaceOffer& from, Model* m, ModelOffer* to) {
  to->device = from.device;
  to->growable = from.growable;
  to->setup = from.setup;
  to->marginal = from.marginal;
  to->launch = from.launch;
  to->edge_saving = from.growable ? from.edge_saving : 0;
  to->usable = std::isfinite(to->Alone());
  std::vector<uint32_t> nodes = from.nodes;
  std::sort(nodes.begin(), nodes.end(),
            [m](uint32_t a, uint32_t b) { return m->position[a] < m->position[b]; });
  const uint32_t domain = m->domain[from.device];
  const auto layouts = SortedLayouts(from);
  for (uint32_t node : nodes) {
    OfferPart part;
    part.node = node;
    for (uint32_t v : m->node_reads[node]) {
      const int32_t producer = m->values[v].producer;
      if (producer >= 0 && std::binary_search(from.nodes.begin(), from.nodes.end(),
                                              static_cast<uint32_t>(producer))) {
        continue;  // inside the offer
      }
      part.reads.push_back({v, InternPlace(&m->values[v], domain, LayoutOf(layouts, v))});
    }
    for (uint32_t v : m->node_gives[node]) {
      part.gives.push_back({v, InternPlace(&m->values[v], domain, LayoutOf(layouts, v))});
    }
    to->parts.push_back(std::move(part));
  }
}

// A path that leaves the offer and comes back makes every cover with it cyclic. `seen` is by node
// and of `stamp` where this walk was.
bool IsConvex(const Model& m, const ModelOffer& offer, uint32_t stamp,
              std::vector<uint32_t>* seen) {
  if (offer.parts.size() < 2) return true;
  const uint32_t last = m.position[offer.parts.back().node];
  std::vector<uint32_t> inside, stack;
  for (const OfferPart& part : offer.parts) inside.push_back(part.node);
  std::sort(inside.begin(), inside.end());
  auto push = [&](uint32_t node) {
    if (m.position[node] > last || (*seen)[node] == stamp) return;
    (*seen)[node] = stamp;
    stack.push_back(node);
  };
  auto is_inside = [&](uint32_t n) { return std::binary_search(inside.begin(), inside.end(), n); };
  for (uint32_t node : inside) {
    for (uint32_t v : m.node_gives[node]) {
      for (uint32_t user : m.values[v].users) {
        if (!is_inside(user)) push(user);
      }
    }
  }
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    for (uint32_t v : m.node_gives[node]) {
      for (uint32_t user : m.values[v].users) {
        if (is_inside(user)) return false;
        push(user);
      }
    }
  }
  return true;
}

using PriceCache = std::map<std::array<double, 6>, double>;  // values of one size share prices

void PriceValue(const PlaceProblem& p, const PlaceValue& given, PriceCache* cache,
                ModelValue* value) {
  const size_t n = value->places.size();
  const double bytes = given.bytes, callers = given.producer < 0 || given.is_output;
  value->cost.assign(n * n, 0);
  if (given.order) return;
  for (size_t from = 0; from < n; ++from) {
    for (size_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const auto& [d, l] = value->places[from];
      const auto& [e, k] = value->places[to];
      auto [it, fresh] =
          cache->try_emplace({bytes, double(d), double(l), double(e), double(k), callers}, 0);
      if (fresh) {
        const double c = p.boundary->CostOf(given, d, l, e, k);
        it->second = c >= 0 ? c : kInfinity;  // a price that is no number counts as impossible
      }
      value->cost[from * n + to] = it->second;
    }
  }
}

}  // namespace

const Touch* TouchOf(const std::vector<Touch>& touches, uint32_t value) {
  const auto it = std::partition_point(touches.begin(), touches.end(),
                                       [value](const Touch& t) { return t.value < value; });
  return it != touches.end() && it->value == value ? &*it : nullptr;
}

size_t PartsUpTo(const Model& m, const ModelOffer& offer, uint32_t position) {
  const auto end = std::partition_point(
      offer.parts.begin(), offer.parts.end(),
      [&](const OfferPart& part) { return m.position[part.node] <= position; });
  return static_cast<size_t>(end - offer.parts.begin());
}

const OfferPart& PartAt(const Model& m, const ModelOffer& offer, uint32_t node) {
  return offer.parts[PartsUpTo(m, offer, m.position[node]) - 1];
}

bool ShareNode(const Model& m, const ModelOffer& left, const ModelOffer& right) {
  if (left.parts.size() > right.parts.size()) return ShareNode(m, right, left);
  for (const OfferPart& part : left.parts) {
    const size_t n = PartsUpTo(m, right, m.position[part.node]);
    if (n > 0 && right.parts[n - 1].node == part.node) return true;
  }
  return false;
}

Result<Model> BuildModel(const PlaceProblem& p) {
  GE_RETURN_IF_ERROR(CheckProblem(p));
  Model m;
  m.n_node = p.n_node;
  m.n_device = p.n_device;
  FindDomains(p, &m);
  m.values.resize(p.values.size());
  m.node_reads.resize(p.n_node);
  m.node_gives.resize(p.n_node);
  for (uint32_t v = 0; v < p.values.size(); ++v) {
    ModelValue& value = m.values[v];
    value.producer = p.values[v].producer;
    value.users = p.values[v].users;
    value.is_output = p.values[v].is_output;
    value.places.emplace_back(m.domain[p.values[v].home], 0);
    if (value.producer >= 0) m.node_gives[value.producer].push_back(v);
    for (uint32_t user : value.users) m.node_reads[user].push_back(v);
  }
  m.order = ChooseOrder(m);
  if (m.order.size() != p.n_node) return Bad("the nodes form a cycle");
  m.position.resize(p.n_node);
  for (uint32_t i = 0; i < p.n_node; ++i) m.position[m.order[i]] = i;
  m.offers.resize(p.offers.size());
  m.node_offers.resize(p.n_node);
  std::vector<uint32_t> seen(p.n_node, 0);
  for (uint32_t i = 0; i < p.offers.size(); ++i) {
    IndexOffer(p.offers[i], &m, &m.offers[i]);
    ModelOffer& offer = m.offers[i];
    offer.usable = offer.usable && IsConvex(m, offer, i + 1, &seen);
    if (!offer.usable) continue;
    for (const OfferPart& part : offer.parts) m.node_offers[part.node].push_back(i);
  }
  PriceCache cache;
  for (uint32_t v = 0; v < p.values.size(); ++v) {
    PriceValue(p, p.values[v], &cache, &m.values[v]);
  }
  return m;
}

}  // namespace ge::place
