#include "ge/plan/check/max_flow.h"

#include <algorithm>

namespace ge::check {

uint32_t MaxFlow::AddNode() {
  edges_.emplace_back();
  return static_cast<uint32_t>(edges_.size() - 1);
}

void MaxFlow::AddEdge(uint32_t from, uint32_t to, int64_t capacity) {
  const uint32_t forward = static_cast<uint32_t>(edges_[from].size());
  const uint32_t back = static_cast<uint32_t>(edges_[to].size());
  edges_[from].push_back({to, back, capacity});
  edges_[to].push_back({from, forward, 0});
}

bool MaxFlow::FindLevels(uint32_t source, uint32_t sink) {
  level_.assign(edges_.size(), -1);
  level_[source] = 0;
  std::vector<uint32_t> queue{source};
  for (size_t at = 0; at < queue.size() && level_[sink] < 0; ++at) {
    for (const Edge& e : edges_[queue[at]]) {
      if (e.left == 0 || level_[e.to] >= 0) continue;
      level_[e.to] = level_[queue[at]] + 1;
      queue.push_back(e.to);
    }
  }
  return level_[sink] >= 0;
}

// One path from source to sink along rising levels; 0 when there is none left.
int64_t MaxFlow::Push(uint32_t source, uint32_t sink) {
  std::vector<uint32_t> path{source};
  while (path.back() != sink) {
    const uint32_t node = path.back();
    uint32_t& i = next_[node];
    while (i < edges_[node].size() &&
           (edges_[node][i].left == 0 || level_[edges_[node][i].to] != level_[node] + 1)) {
      ++i;
    }
    if (i < edges_[node].size()) {
      path.push_back(edges_[node][i].to);
      continue;
    }
    path.pop_back();
    if (path.empty()) return 0;
    ++next_[path.back()];
  }
  int64_t most = kUnbounded;
  for (size_t p = 0; p + 1 < path.size(); ++p) {
    most = std::min(most, edges_[path[p]][next_[path[p]]].left);
  }
  for (size_t p = 0; p + 1 < path.size(); ++p) {
    Edge& e = edges_[path[p]][next_[path[p]]];
    Edge& back = edges_[e.to][e.back];
    if (e.left != kUnbounded) e.left -= most;
    if (back.left != kUnbounded) back.left += most;
  }
  return most;
}

int64_t MaxFlow::Run(uint32_t source, uint32_t sink) {
  int64_t flow = 0;
  while (FindLevels(source, sink)) {
    next_.assign(edges_.size(), 0);
    while (const int64_t more = Push(source, sink)) flow += more;
  }
  return flow;
}

}  // namespace ge::check
