// Ways that a plugin states, which are taken where they fit the node.
#include "passes/parallel/rules/stated.h"

#include <gtest/gtest.h>

#include "ge/ge_plugin.hpp"

namespace ge::parallel {
namespace {

// acme.Scale(x[7,4], s[4]) -> y[7,4], by rows, by columns, and in ways that fit nothing.
ge_rc States(void*, uint32_t, uint32_t node, void* to, ge_rc (*way)(void*, const ge_shard*)) {
  if (node != 5) return GE_NOT_FOUND;
  const int32_t in[][2] = {{0, -1}, {1, 0}, {2, -1}, {-1, -1}, {0, -1}, {GE_SHARD_TERM, -1}};
  const int32_t out[] = {0, 1, 0, -1, -1, GE_SHARD_TERM};
  for (int i = 0; i < 6; ++i) {
    ge_shard s{};
    s.h = GE_HDR(ge_shard, GE_TAG_SHARD);
    s.in_axis = in[i];
    s.out_axis = &out[i];
    s.n_in = i == 3 ? 1 : 2;
    s.n_out = 1;
    s.partial = i == 4 ? GE_SHARD_MAX : 0;
    way(to, &s);
  }
  return GE_OK;
}

struct Picture {
  int64_t wide[2] = {7, 4}, row[1] = {4};
  ge_value value[4]{};
  uint32_t in[2] = {1, 2}, out[1] = {3};
  ge_node node{};
  ge_graph graph{};
  explicit Picture(const char* op, uint32_t id) {
    for (const int i : {1, 3}) {
      value[i].type.rank = 2;
      value[i].type.dims = wide;
    }
    value[2].type.rank = 1;
    value[2].type.dims = row;
    node.domain = ge_text("acme");
    node.op = ge_text(op);
    node.id = id;
    node.in = in;
    node.out = out;
    node.n_in = 2;
    node.n_out = 1;
    graph.node = &node;
    graph.value = value;
    graph.n_node = 1;
    graph.n_value = 4;
    graph.node_stride = sizeof node;
    graph.value_stride = sizeof value[0];
  }
};

TEST(Stated, WaysThatFit) {
  ge_edit edit{};
  edit.shard = States;
  const Picture p("Scale", 5);
  const Split split = SplitOf(&edit, 1, &p.graph, p.node, 2);
  EXPECT_TRUE(split.known);
  const std::vector<Way> wanted = {
      {{0, kWhole}, {0}}, {{1, 0}, {1}}, {{0, kWhole}, {kMaxTerm}}, {{kTerm, kWhole}, {kTerm}}};
  EXPECT_EQ(split.ways, wanted);
  // Four columns are two ranks' of three, and none of eight has any.
  const std::vector<Way> rows = {wanted[0], wanted[2], wanted[3]};
  EXPECT_EQ(SplitOf(&edit, 1, &p.graph, p.node, 3).ways, rows);
  EXPECT_EQ(SplitOf(&edit, 1, &p.graph, p.node, 4).ways.size(), 4u);
  EXPECT_EQ(SplitOf(&edit, 1, &p.graph, p.node, 8).ways, std::vector<Way>{wanted[3]});
}

TEST(Stated, NothingIsKnown) {
  ge_edit edit{};
  edit.shard = States;
  const Picture p("Other", 6);
  EXPECT_FALSE(SplitOf(&edit, 1, &p.graph, p.node, 2).known);
}

}  // namespace
}  // namespace ge::parallel
