// Ways that a plugin states: taken where every share has something, refused where they cannot be.
#include "passes/parallel/rules/stated.h"

#include <gtest/gtest.h>

#include <iterator>

#include "ge/ge_plugin.hpp"
#include "passes/kit/refusal.h"

namespace ge::parallel {
namespace {

// acme.Scale(x[7,4], s[4]) -> y[7,4]: some of these ways, by the node's id.
struct One {
  int32_t in[2], out;
  uint32_t n_in = 2, partial = 0;
};
constexpr One kRight[] = {{{0, -1}, 0},
                          {{1, 0}, 1},
                          {{0, -1}, -1, 2, GE_SHARD_MAX},
                          {{GE_SHARD_TERM, -1}, GE_SHARD_TERM}};
constexpr One kWrong[] = {{{2, -1}, 0},   {{0, -1}, 0, 1}, {{0, -1}, -1, 2, 9},
                          {{-1, -1}, -1}, {{-1, -1}, 1},   {{0, -1}, -1}};
constexpr uint32_t kNode = 5, kBad = 10, kFails = 20;

ge_rc States(void*, uint32_t, uint32_t node, void* to, ge_rc (*way)(void*, const ge_shard*)) {
  if (node == kFails) return GE_INTERNAL;
  const auto state = [&](const One& one) {
    ge_shard s{};
    s.h = GE_HDR(ge_shard, GE_TAG_SHARD);
    s.in_axis = one.in;
    s.out_axis = &one.out;
    s.n_in = one.n_in;
    s.n_out = 1;
    s.partial = one.partial;
    return way(to, &s);
  };
  if (node >= kBad) return state(kWrong[node - kBad]);
  if (node != kNode) return GE_NOT_FOUND;
  for (const One& one : kRight) (void)state(one);
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
  const Picture p("Scale", kNode);
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

TEST(Stated, WhatCannotBeIsRefusedByName) {
  ge_edit edit{};
  edit.shard = States;
  const char* const words[] = {"input 0 is split along axis 2",
                               "it is of 1 inputs and 1 outputs, the node has 2",
                               "partial is 9",
                               "nothing is split",
                               "no input is split or a term, and an output is",
                               "output 0 is whole"};
  for (uint32_t i = 0; i < std::size(words); ++i) {
    const Picture p("Scale", kBad + i);
    try {
      SplitOf(&edit, 1, &p.graph, p.node, 2);
      ADD_FAILURE() << words[i];
    } catch (const passes::Refusal& r) {
      EXPECT_NE(r.text.find(words[i]), std::string::npos) << r.text;
      EXPECT_EQ(r.text.rfind("acme.Scale: ", 0), 0u) << r.text;
    }
  }
  const Picture fails("Scale", kFails);
  EXPECT_THROW(SplitOf(&edit, 1, &fails.graph, fails.node, 2), passes::Refusal);
}

TEST(Stated, NothingIsKnown) {
  ge_edit edit{};
  edit.shard = States;
  const Picture p("Other", 6);
  EXPECT_FALSE(SplitOf(&edit, 1, &p.graph, p.node, 2).known);
}

}  // namespace
}  // namespace ge::parallel
