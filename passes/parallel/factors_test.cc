// Texts of rules: blocks, extremes, zeros. What rules make of operators is ge-shardcheck's.
#include "passes/parallel/factors.h"

#include <gtest/gtest.h>

#include "passes/parallel/rules.h"

namespace ge::parallel {
namespace {

Operands Sized(std::vector<std::vector<int64_t>> in, std::vector<std::vector<int64_t>> out) {
  Operands o;
  o.omitted.assign(in.size(), false);
  o.in = std::move(in);
  o.out = std::move(out);
  return o;
}

// A share is as many rows of one side as of the other, or there is no way.
TEST(Factors, BlocksOfOtherSizes) {
  const std::vector<Way> wanted = {{{0}, {0}}};
  EXPECT_EQ(WaysOf("A..->A.", Sized({{6, 8, 5}}, {{48, 5}}), 2), wanted);
  EXPECT_EQ(WaysOf("A..->A.", Sized({{6, 8, 5}}, {{48, 5}}), 3), wanted);
  EXPECT_TRUE(WaysOf("A..->A.", Sized({{6, 8, 5}}, {{48, 5}}), 4).empty());  // 2 rows are not 12
  EXPECT_TRUE(WaysOf("A..->A.", Sized({{5, 8, 5}}, {{40, 5}}), 2).empty());
  EXPECT_EQ(WaysOf("A..->A.", Sized({{5, 1, 5}}, {{5, 5}}), 2), wanted);  // one size may be uneven
  EXPECT_TRUE(WaysOf("a..->a.", Sized({{6, 8, 5}}, {{48, 5}}), 2).empty());
}

TEST(Factors, Extremes) {
  const std::vector<Way> least = {{{0}, {kMinTerm}}}, greatest = {{{0}, {kMaxTerm}}};
  EXPECT_EQ(WaysOf("a -> min: .", Sized({{6}}, {{1}}), 2), least);
  EXPECT_EQ(WaysOf("a -> max: ", Sized({{6}}, {{}}), 2), greatest);
}

// Zeros are terms of themselves: whoever adds to them is counted once.
TEST(Factors, Zeros) {
  const Operands o = Sized({{9, 4}, {6}, {6, 4}}, {{9, 4}});
  const std::vector<Way> columns = {{{1, kWhole, 1}, {1}}};
  EXPECT_EQ(WaysOf(".c,n,nc->.c", o, 2), columns);
  const std::vector<Way> both = {{{1, kWhole, 1}, {1}}, {{kWhole, 0, 0}, {kTerm}}};
  EXPECT_EQ(WaysOf("~.c,n,nc->.c", o, 2), both);
}

// What is added once is given by one rank.
TEST(Factors, AddedOnce) {
  const Operands o = Sized({{9, 4}, {4, 6}, {6}}, {{9, 6}});
  const std::vector<Way> ways = {
      {{0, kWhole, kWhole}, {0}}, {{1, 0, kKept}, {kTerm}}, {{kWhole, 1, 0}, {1}}};
  EXPECT_EQ(WaysOf("ik,kj,+j->ij", o, 2), ways);
  Operands without = o;
  without.omitted[2] = true;
  EXPECT_EQ(WaysOf("ik,kj,+j->ij", without, 2)[1].in[2], kWhole);
}

TEST(Factors, OutputsLeftOut) {
  Operands o = Sized({{6, 4}}, {{6, 4}, {}});
  o.unmade = {false, true};
  const std::vector<Way> wanted = {{{0}, {0, kWhole}}};
  EXPECT_EQ(WaysOf("a.->a.,a.", o, 2), wanted);
}

TEST(Factors, NoDiagonals) { EXPECT_TRUE(WaysOf("aa->a", Sized({{6, 6}}, {{6}}), 2).empty()); }

TEST(Terms, Ways) {
  ge_node n{};
  n.n_in = 2;
  n.n_out = 1;
  const std::vector<Way> all = {{{kTerm, kTerm}, {kTerm}}}, first = {{{kTerm, kWhole}, {kTerm}}};
  EXPECT_EQ(WaysOfTerms(n, Terms::kAll), all);
  EXPECT_EQ(WaysOfTerms(n, Terms::kFirst), first);
  EXPECT_EQ(WaysOfTerms(n, Terms::kOne).size(), 2u);
  EXPECT_TRUE(WaysOfTerms(n, Terms::kNone).empty());
  n.n_out = 2;
  EXPECT_TRUE(WaysOfTerms(n, Terms::kAll).empty());
}

}  // namespace
}  // namespace ge::parallel
