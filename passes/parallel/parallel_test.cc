// Meshes, layouts and the texts of rules; what they make of models is a test of tests/e2e/training.
#include <gtest/gtest.h>

#include "passes/kit/refusal.h"
#include "passes/parallel/factors.h"
#include "passes/parallel/layout.h"
#include "passes/parallel/mesh.h"

namespace ge::parallel {
namespace {

std::string RefusalOf(const std::string& text) {
  try {
    (void)Mesh::Of(text);
    return {};
  } catch (const passes::Refusal& r) {
    return r.text;
  }
}

TEST(Mesh, ReadsAxes) {
  const Mesh mesh = Mesh::Of("data=2,model=3");
  EXPECT_EQ(mesh.ranks(), 6);
  EXPECT_EQ(mesh.Text(), "data=2,model=3");
  EXPECT_EQ(Mesh::Of("data=2+model=3").Text(), mesh.Text());
  EXPECT_EQ(mesh.Find("model"), 1u);
  EXPECT_FALSE(mesh.Find("pipe"));
  for (int64_t rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(mesh.Coordinate(rank, 0), rank / 3);
    EXPECT_EQ(mesh.Coordinate(rank, 1), rank % 3);
  }
}

TEST(Mesh, RefusesOthers) {
  for (const char* text : {"", "data", "data=", "data=0", "data=2x", "=2", "data=-1"}) {
    EXPECT_NE(RefusalOf(text).find("wanted AXIS=RANKS"), std::string::npos) << text;
  }
  EXPECT_NE(RefusalOf("a=2,a=2").find("twice"), std::string::npos);
  EXPECT_NE(RefusalOf("a=1048576,b=1048576").find("more than"), std::string::npos);
}

TEST(Mesh, TakesAxesAsOne) {
  const Mesh mesh = Mesh::Of("data=2,pipe=2,model=3");
  EXPECT_EQ(mesh.Read("data,model"), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(mesh.Names({0, 2}), "data,model");
  EXPECT_EQ(mesh.Shares({0, 2}), 6);
  EXPECT_EQ(mesh.Shares({}), 1);
  EXPECT_EQ(mesh.Share(11, {0, 2}), 5);  // the last of all
  EXPECT_EQ(mesh.Share(7, {0, 2}), 4);   // places 1, 0, 1
  for (const char* names : {"", "rows", "model,data", "data,data"}) {
    EXPECT_THROW((void)mesh.Read(names), passes::Refusal) << names;
  }
}

// Shares cover each index once, in order, all but the last as large as the first.
TEST(Mesh, SharesCover) {
  for (int64_t n = 0; n < 40; ++n) {
    for (int64_t shares = 1; shares < 9; ++shares) {
      int64_t at = 0;
      for (int64_t k = 0; k < shares; ++k) {
        const Part part = ShareOf(n, shares, k);
        EXPECT_EQ(part.first, at);
        EXPECT_LE(part.size, (n + shares - 1) / shares);
        at += part.size;
      }
      EXPECT_EQ(at, n);
    }
  }
  EXPECT_EQ(ShareOf(10, 3, 2), (Part{8, 2}));
  EXPECT_EQ(ShareOf(4, 3, 2), (Part{4, 0}));
}

// The boxes of all ranks hold each element as often as there are ranks that share none of its axes.
TEST(Layout, BoxesCover) {
  const Mesh mesh = Mesh::Of("a=2,b=3");
  const std::vector<int64_t> dims = {7, 5};
  for (const auto& [layout, times] : {std::pair{Layout{{{0}, {1}}, {}}, 1},
                                      {Layout{{{0, 1}, {}}, {}}, 1},
                                      {Layout{{{1, 0}, {}}, {}}, 1},
                                      {Layout{{{}, {1}}, {}}, 2},
                                      {Layout{{{}, {}}, {0, 1}}, 6}}) {
    std::vector<int> seen(35, 0);
    for (int64_t rank = 0; rank < 6; ++rank) {
      const std::vector<Part> box = BoxOf(mesh, layout, dims, rank);
      for (int64_t i = box[0].first; i < box[0].first + box[0].size; ++i) {
        for (int64_t k = box[1].first; k < box[1].first + box[1].size; ++k) {
          ++seen[static_cast<size_t>(i * 5 + k)];
        }
      }
    }
    EXPECT_EQ(seen, std::vector<int>(35, times)) << TextOf(mesh, layout);
  }
  EXPECT_EQ(TextOf(mesh, {{{0, 1}, {}}, {}}), "[a*b,-]");
  EXPECT_EQ(TextOf(mesh, {{{}}, {1}}), "[-] sum of b");
  EXPECT_TRUE(Layout::Whole(2).whole());
  EXPECT_FALSE((Layout{{{}}, {1}}).whole());
}

Operands Of(std::vector<std::vector<int64_t>> in, std::vector<std::vector<int64_t>> out) {
  Operands o;
  o.omitted.assign(in.size(), false);
  o.in = std::move(in);
  o.out = std::move(out);
  return o;
}

TEST(Factors, SplitInputsAndOutputs) {
  const auto ways = WaysOf("ik,kj->ij", Of({{4, 6}, {6, 8}}, {{4, 8}}), 2);
  const std::vector<Way> wanted = {{{0, kWhole}, {0}}, {{1, 0}, {kTerm}}, {{kWhole, 1}, {1}}};
  EXPECT_EQ(ways, wanted);
}

// A bias would count once for each rank, so that what lacks the factor forbids terms.
TEST(Factors, NoTermsBesideABias) {
  const auto ways = WaysOf("ik,kj,j->ij", Of({{4, 6}, {6, 8}, {8}}, {{4, 8}}), 2);
  const std::vector<Way> wanted = {{{0, kWhole, kWhole}, {0}}, {{kWhole, 1, 0}, {1}}};
  EXPECT_EQ(ways, wanted);
}

TEST(Factors, SettingsAndStars) {
  const auto ways =
      WaysOf("n.*,*,S -> n.*", Of({{8, 3, 5, 5}, {3, 2, 3, 3}, {4}}, {{8, 2, 7, 7}}), 2);
  EXPECT_EQ(ways, (std::vector<Way>{{{0, kWhole, kShape}, {0}}}));
  const auto sums = WaysOf("n.*,n.*,- -> *", Of({{8, 3, 5}, {8, 2, 3}, {3}}, {{2, 3, 3}}), 2);
  EXPECT_EQ(sums, (std::vector<Way>{{{0, 0, kWhole}, {kTerm}}}));
}

TEST(Factors, WhatDoesNotFit) {
  EXPECT_TRUE(WaysOf("ab->ab", Of({{4}}, {{4}}), 2).empty());       // another rank
  EXPECT_TRUE(WaysOf("a->a", Of({{4}, {4}}, {{4}}), 2).empty());    // an input too many
  EXPECT_TRUE(WaysOf("a,a->a", Of({{4}, {1}}, {{4}}), 2).empty());  // unequal sizes
  EXPECT_TRUE(WaysOf("a->a", Of({{4}}, {{4}}), 3).empty());         // the last has nothing
  EXPECT_EQ(WaysOf("a->a", Of({{5}}, {{5}}), 3).size(), 1u);        // or less than the others
  EXPECT_TRUE(WaysOf("a->a,.", Of({{4}}, {{4}, {4}}), 2).empty());  // an output of all
}

}  // namespace
}  // namespace ge::parallel
