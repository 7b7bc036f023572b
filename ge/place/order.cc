// ChooseOrder: the order in which the frontier search meets the nodes.
#include <algorithm>
#include <cmath>

#include "ge/place/model.h"

namespace ge::place {
namespace {

// How many values would be live more (or fewer) after `node` has run.
int LiveChange(const Model& m, const std::vector<uint32_t>& uses_left, uint32_t node) {
  int change = 0;
  for (uint32_t v : m.node_reads[node]) {
    const bool unseen_input = m.values[v].producer < 0 && uses_left[v] == m.values[v].users.size();
    if (uses_left[v] == 1) {
      change -= unseen_input ? 0 : 1;
    } else if (unseen_input) {
      ++change;
    }
  }
  for (uint32_t v : m.node_gives[node]) change += m.values[v].users.empty() ? 0 : 1;
  return change;
}

struct Walk {
  explicit Walk(const Model& model) : m(model), waits(m.n_node, 0), uses_left(m.values.size()) {
    for (size_t v = 0; v < m.values.size(); ++v) {
      uses_left[v] = static_cast<uint32_t>(m.values[v].users.size());
      if (m.values[v].producer < 0) continue;
      for (uint32_t user : m.values[v].users) ++waits[user];
    }
  }
  // Marks `node` as run; appends the nodes that become ready.
  void Run(uint32_t node, std::vector<uint32_t>* ready) {
    for (uint32_t v : m.node_reads[node]) --uses_left[v];
    for (uint32_t v : m.node_gives[node]) {
      for (uint32_t user : m.values[v].users) {
        if (--waits[user] == 0) ready->push_back(user);
      }
    }
  }
  const Model& m;
  std::vector<uint32_t> waits, uses_left;
};

std::vector<uint32_t> GreedyOrder(const Model& m) {
  Walk walk(m);
  std::vector<uint32_t> ready, order;
  for (uint32_t n = m.n_node; n-- > 0;) {
    if (walk.waits[n] == 0) ready.push_back(n);
  }
  // Looking at the most recent ready nodes only keeps 5,000 parallel nodes linear.
  constexpr size_t kLook = 64;
  while (!ready.empty()) {
    size_t best = ready.size() - 1;
    int best_change = LiveChange(m, walk.uses_left, ready[best]);
    const size_t end = ready.size() > kLook ? ready.size() - kLook : 0;
    for (size_t i = ready.size() - 1; i-- > end;) {
      const int change = LiveChange(m, walk.uses_left, ready[i]);
      if (change < best_change) {
        best = i;
        best_change = change;
      }
    }
    const uint32_t node = ready[best];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(best));
    order.push_back(node);
    walk.Run(node, &ready);
  }
  return order;
}

// The order of the caller's numbers; empty when that is not topological.
std::vector<uint32_t> NumberOrder(const Model& m) {
  Walk walk(m);
  std::vector<uint32_t> order, ready;
  for (uint32_t n = 0; n < m.n_node; ++n) {
    if (walk.waits[n] != 0) return {};
    walk.Run(n, &ready);
    order.push_back(n);
  }
  return order;
}

// A stand-in for the number of states: each live value has about three places to be.
double Width(const Model& m, const std::vector<uint32_t>& order) {
  Walk walk(m);
  std::vector<uint32_t> ready;
  double sum = 0;
  int live = 0;
  for (uint32_t node : order) {
    live += LiveChange(m, walk.uses_left, node);
    walk.Run(node, &ready);
    sum += std::pow(3.0, std::min(live, 40));
  }
  return sum;
}

}  // namespace

std::vector<uint32_t> ChooseOrder(const Model& m) {
  std::vector<uint32_t> greedy = GreedyOrder(m), number = NumberOrder(m);
  if (greedy.size() != m.n_node || number.size() != m.n_node) return greedy;
  return Width(m, number) <= Width(m, greedy) ? number : greedy;
}

}  // namespace ge::place
