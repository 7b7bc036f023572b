#include "ge/ir/walk.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace ge {

std::vector<int32_t> BuildProducers(const Function& function) {
  std::vector<int32_t> producer(function.values.size(), -1);
  for (uint32_t i = 0; i < function.nodes.size(); ++i) {
    for (ValueId v : function.nodes[i].outputs) {
      if (v && v < producer.size()) producer[v] = static_cast<int32_t>(i);
    }
  }
  return producer;
}

NodePositions::NodePositions(const Function& function) {
  places_.reserve(function.nodes.size());
  for (uint32_t i = 0; i < function.nodes.size(); ++i)
    places_.emplace_back(function.nodes[i].id, i);
  if (!std::is_sorted(places_.begin(), places_.end())) std::sort(places_.begin(), places_.end());
}

uint32_t NodePositions::of(NodeId id) const {
  return std::lower_bound(places_.begin(), places_.end(), std::pair(id, 0u))->second;
}

DefUse BuildDefUse(const Function& function) {
  DefUse d;
  const size_t n = function.values.size();
  d.producer = BuildProducers(function);
  d.uses.resize(n);
  d.result_uses.assign(n, 0);
  for (uint32_t i = 0; i < function.nodes.size(); ++i) {
    const Node& node = function.nodes[i];
    for (uint32_t s = 0; s < node.inputs.size(); ++s) {
      const ValueId v = node.inputs[s];
      if (v && v < n) d.uses[v].push_back(Use{i, s});
    }
  }
  for (ValueId v : function.results) {
    if (v && v < n) ++d.result_uses[v];
  }
  return d;
}

namespace {

using Edges = std::vector<std::vector<uint32_t>>;  // predecessors by node index

// Those that the values say.
Edges Givers(const Function& f) {
  const std::vector<int32_t> producer = BuildProducers(f);
  Edges pred(f.nodes.size());
  for (uint32_t i = 0; i < f.nodes.size(); ++i) {
    for (ValueId v : f.nodes[i].inputs) {
      if (v < producer.size() && producer[v] >= 0) pred[i].push_back(producer[v]);
    }
  }
  return pred;
}

// Those that `after` and effects say: (earlier, later), maybe several times.
std::vector<std::pair<uint32_t, uint32_t>> StatedEdges(const Function& f) {
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  std::unordered_map<NodeId, uint32_t> by_id;
  bool any_after = false;
  for (const Node& node : f.nodes) any_after |= !node.after.empty();
  if (any_after) {
    for (uint32_t i = 0; i < f.nodes.size(); ++i) by_id[f.nodes[i].id] = i;
  }
  std::unordered_map<uint64_t, uint32_t> last_effect;
  for (uint32_t i = 0; i < f.nodes.size(); ++i) {
    const Node& node = f.nodes[i];
    for (NodeId id : node.after) {
      if (auto it = by_id.find(id); it != by_id.end()) edges.emplace_back(it->second, i);
    }
    for (const Effect& e : node.effects) {
      const uint64_t key = (uint64_t{static_cast<uint8_t>(e.kind)} << 32) | e.object;
      auto [it, fresh] = last_effect.emplace(key, i);
      if (fresh || it->second == i) continue;
      edges.emplace_back(it->second, i);
      it->second = i;
    }
  }
  return edges;
}

Edges Predecessors(const Function& f) {
  Edges pred = Givers(f);
  for (const auto& [first, then] : StatedEdges(f)) pred[then].push_back(first);
  return pred;
}

// Whether `then` comes after `first` by a path of two edges or more. It looks at so many nodes at
// most: an edge that is kept for nothing costs less than a walk through a large graph.
bool OrderedOtherwise(const Edges& pred, uint32_t first, uint32_t then) {
  constexpr size_t kMostLookedAt = 256;
  std::vector<uint32_t> open;
  std::unordered_set<uint32_t> seen;
  for (uint32_t p : pred[then]) {
    if (p > first && seen.insert(p).second) open.push_back(p);
  }
  while (!open.empty() && seen.size() < kMostLookedAt) {
    const uint32_t at = open.back();
    open.pop_back();
    for (uint32_t p : pred[at]) {
      if (p == first) return true;
      if (p > first && seen.insert(p).second) open.push_back(p);
    }
  }
  return false;
}

// `waiting` are the nodes that a cycle holds back; each has a predecessor that waits too.
std::string CycleText(const Function& f, const Edges& pred, const std::vector<bool>& waiting) {
  uint32_t at = 0;
  while (!waiting[at]) ++at;
  std::vector<uint32_t> path;
  std::unordered_map<uint32_t, size_t> seen;
  while (seen.emplace(at, path.size()).second) {
    path.push_back(at);
    for (uint32_t p : pred[at]) {
      if (waiting[p]) {
        at = p;
        break;
      }
    }
  }
  std::vector<uint32_t> cycle(path.begin() + seen[at], path.end());
  std::reverse(cycle.begin(), cycle.end());  // In the direction of the data.
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < cycle.size() && i < kShown; ++i)
    text += NodeLabel(f.nodes[cycle[i]]) + " -> ";
  if (cycle.size() > kShown) text += "... " + std::to_string(cycle.size() - kShown) + " more -> ";
  return text + NodeLabel(f.nodes[cycle[0]]);
}

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> OrderEdges(const Function& function) {
  std::vector<std::pair<uint32_t, uint32_t>> edges = StatedEdges(function);
  if (edges.empty()) return edges;
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const Edges givers = Givers(function);
  Edges pred = givers;
  for (const auto& [first, then] : edges) pred[then].push_back(first);
  std::erase_if(edges, [&](const auto& e) {
    const std::vector<uint32_t>& direct = givers[e.second];
    return std::find(direct.begin(), direct.end(), e.first) != direct.end() ||
           OrderedOtherwise(pred, e.first, e.second);
  });
  return edges;
}

namespace {

// Whether every node comes behind those that it reads and waits for. Makes no edges: it is asked of
// graphs that are in order nearly always.
bool IsSorted(const Function& f) {
  std::vector<uint32_t> made(f.values.size());  // by value: the node's place, counted from 1
  for (uint32_t i = 0; i < f.nodes.size(); ++i) {
    for (const ValueId v : f.nodes[i].outputs) {
      if (v && v < made.size()) made[v] = i + 1;
    }
  }
  for (uint32_t i = 0; i < f.nodes.size(); ++i) {
    for (const ValueId v : f.nodes[i].inputs) {
      if (v < made.size() && made[v] > i) return false;
    }
  }
  const auto stated = StatedEdges(f);
  return std::all_of(stated.begin(), stated.end(),
                     [](const auto& e) { return e.first < e.second; });
}

}  // namespace

Status SortNodes(Function* function) {
  if (IsSorted(*function)) return {};
  const Edges pred = Predecessors(*function);
  const size_t n = function->nodes.size();
  Edges next(n);
  std::vector<uint32_t> missing(n, 0);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t p : pred[i]) {
      next[p].push_back(i);
      ++missing[i];
    }
  }
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < n; ++i) {
    if (!missing[i]) ready.push(i);
  }
  std::vector<uint32_t> order;
  order.reserve(n);
  std::vector<bool> waiting(n, true);
  while (!ready.empty()) {
    const uint32_t i = ready.top();
    ready.pop();
    order.push_back(i);
    waiting[i] = false;
    for (uint32_t u : next[i]) {
      if (--missing[u] == 0) ready.push(u);
    }
  }
  if (order.size() != n) {
    return Status(Code::kInvalidGraph, "function '" + function->name +
                                           "' has a cycle: " + CycleText(*function, pred, waiting) +
                                           "; remove one of these edges");
  }
  std::vector<Node> nodes;
  nodes.reserve(n);
  for (uint32_t i : order) nodes.push_back(std::move(function->nodes[i]));
  function->nodes = std::move(nodes);
  return {};
}

}  // namespace ge
