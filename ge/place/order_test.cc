// The order in which the search meets the nodes: topological, with few values live at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ge/place/model.h"

namespace ge::place {
namespace {

// A value that `producer` gives, or an input where that is -1.
uint32_t Put(Model* m, int32_t producer) {
  ModelValue v;
  v.producer = producer;
  m->values.push_back(v);
  const auto id = static_cast<uint32_t>(m->values.size() - 1);
  if (producer >= 0) m->node_gives[static_cast<size_t>(producer)].push_back(id);
  return id;
}
void Read(Model* m, uint32_t node, uint32_t value) {
  std::vector<uint32_t>& users = m->values[value].users;
  if (std::find(users.begin(), users.end(), node) != users.end()) return;
  users.push_back(node);
  m->node_reads[node].push_back(value);
}
Model Empty(uint32_t nodes) {
  Model m;
  m.n_node = nodes;
  m.node_reads.resize(nodes);
  m.node_gives.resize(nodes);
  return m;
}

// After each node: values that somebody has made or read, and that somebody is still to read.
double LiveValues(const Model& m, const std::vector<uint32_t>& order) {
  std::vector<size_t> at(m.n_node);
  for (size_t i = 0; i < order.size(); ++i) at[order[i]] = i;
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    int live = 0;
    for (const ModelValue& v : m.values) {
      if (v.users.empty()) continue;
      size_t first = m.n_node, last = 0;
      for (const uint32_t user : v.users) {
        first = std::min(first, at[user]);
        last = std::max(last, at[user]);
      }
      if (v.producer >= 0) first = at[static_cast<size_t>(v.producer)];
      live += first <= i && i < last;
    }
    sum += std::pow(3.0, live);
  }
  return sum;
}

TEST(PlaceOrder, HasNoMoreValuesLiveThanThatOfTheNumbers) {
  std::mt19937 random(7);
  int better = 0;
  for (int round = 0; round < 400; ++round) {
    const uint32_t nodes = 3 + random() % 10;
    Model m = Empty(nodes);
    for (int i = 0; i < 2; ++i) Put(&m, -1);
    for (uint32_t n = 0; n < nodes; ++n) {
      const auto there = static_cast<uint32_t>(m.values.size());
      for (uint32_t k = random() % 3 + 1; k-- > 0;) Read(&m, n, random() % there);
      Put(&m, static_cast<int32_t>(n));
    }
    const std::vector<uint32_t> order = ChooseOrder(m);
    ASSERT_EQ(order.size(), nodes);
    std::vector<uint32_t> numbers(nodes), sorted = order;
    for (uint32_t n = 0; n < nodes; ++n) numbers[n] = n;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, numbers);
    const double mine = LiveValues(m, order), theirs = LiveValues(m, numbers);
    ASSERT_LE(mine, theirs) << "round " << round;
    better += mine < theirs;
  }
  EXPECT_GT(better, 40);
}

// Nodes 0 and 1 leave a value for node 3 each; node 2 leaves none.
TEST(PlaceOrder, BeginsWithWhatLeavesNothingBehind) {
  Model m = Empty(4);
  for (uint32_t n : {0u, 1u, 2u}) Read(&m, n, Put(&m, -1));
  for (uint32_t n : {0u, 1u}) Read(&m, 3, Put(&m, static_cast<int32_t>(n)));
  EXPECT_EQ(ChooseOrder(m), (std::vector<uint32_t>{2, 0, 1, 3}));
}

}  // namespace
}  // namespace ge::place
