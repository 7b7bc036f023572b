#include "ge/ir/dim.h"

#include <gtest/gtest.h>

#include <random>

namespace ge {
namespace {

class DimTest : public ::testing::Test {
 protected:
  Dim Sym(const std::string& name, int64_t min = 0, int64_t max = INT64_MAX, int64_t mult = 1) {
    Symbol s;
    s.name = name;
    s.min = min;
    s.max = max;
    s.multiple_of = mult;
    return t.OfSymbol(t.AddSymbol(s));
  }
  Dim K(int64_t v) { return KnownDim(v); }
  DimTable t;
};

TEST_F(DimTest, SumsAreCanonical) {
  const Dim n = Sym("N"), m = Sym("M");
  const Dim a = *t.Add(*t.Add(n, m), K(3));
  const Dim b = *t.Add(m, *t.Add(K(3), n));
  EXPECT_EQ(a, b);
  EXPECT_EQ(*t.Sub(a, m), *t.Add(n, K(3)));
  EXPECT_EQ(*t.Sub(n, n), K(0));
  EXPECT_EQ(*t.Mul(*t.Add(n, K(1)), K(2)), *t.Add(*t.Add(n, n), K(2)));
}

TEST_F(DimTest, ProductsAreCanonical) {
  const Dim n = Sym("N"), m = Sym("M");
  EXPECT_EQ(*t.Mul(n, m), *t.Mul(m, n));
  EXPECT_EQ(*t.Mul(*t.Mul(n, m), n), *t.Mul(n, *t.Mul(n, m)));
  const Dim square = *t.Mul(*t.Add(n, K(1)), *t.Add(n, K(1)));
  EXPECT_EQ(square, *t.Add(*t.Add(*t.Mul(n, n), *t.Mul(n, K(2))), K(1)));
  EXPECT_EQ(*t.Mul(n, K(0)), K(0));
}

TEST_F(DimTest, DivisionsCancel) {
  const Dim n = Sym("N"), m = Sym("M");
  EXPECT_EQ(*t.FloorDiv(*t.Mul(n, K(6)), K(3)), *t.Mul(n, K(2)));
  EXPECT_EQ(*t.FloorDiv(*t.Mul(*t.Mul(n, m), K(768)), *t.Mul(n, m)), K(768));
  EXPECT_EQ(*t.FloorDiv(*t.Mul(n, m), n), m);
  const Dim sum = *t.Add(n, m);
  EXPECT_EQ(*t.FloorDiv(*t.Mul(sum, K(4)), sum), K(4));
  // Two strides of 2 are one of 4.
  const Dim half = *t.FloorDiv(*t.Add(n, K(1)), K(2));
  const Dim quarter = *t.FloorDiv(*t.Add(half, K(1)), K(2));
  EXPECT_EQ(quarter, *t.FloorDiv(*t.Add(n, K(3)), K(4)));
  EXPECT_EQ(*t.CeilDiv(n, K(2)), half);
  EXPECT_EQ(*t.FloorDiv(*t.Mul(n, K(2)), K(4)), *t.FloorDiv(n, K(2)));
}

TEST_F(DimTest, RangesAndMultiplesDecide) {
  const Dim n = Sym("N", 1, 10), m = Sym("M", 10, 20), x = Sym("X", 0, INT64_MAX, 32);
  EXPECT_EQ(*t.Max(n, m), m);
  EXPECT_EQ(*t.Min(n, m), n);
  EXPECT_EQ(*t.Max(n, n), n);
  EXPECT_EQ(*t.Max(n, *t.Add(n, K(1))), *t.Add(n, K(1)));
  EXPECT_EQ(*t.Max(n, K(1)), n);
  EXPECT_EQ(*t.FloorDiv(n, K(11)), K(0));
  EXPECT_EQ(*t.Mod(n, K(11)), n);
  EXPECT_EQ(*t.Mod(x, K(16)), K(0));
  EXPECT_EQ(*t.Mod(*t.Add(x, K(35)), K(32)), K(3));
  EXPECT_FALSE(t.Max(n, K(5))->known());
  EXPECT_EQ(*t.Max(n, K(5)), *t.Max(K(5), n));
}

TEST_F(DimTest, OverflowAndZeroAreRefused) {
  const Dim n = Sym("N");
  EXPECT_FALSE(t.Add(K(INT64_MAX), K(1)));
  EXPECT_FALSE(t.Mul(K(INT64_MAX), K(2)));
  EXPECT_FALSE(t.FloorDiv(n, K(0)));
  EXPECT_FALSE(t.Mod(K(5), K(0)));
  EXPECT_FALSE(t.Mul(*t.Mul(n, K(INT64_MAX)), K(2)));
  EXPECT_FALSE(t.FloorDiv(K(INT64_MIN), K(-1)));
  EXPECT_EQ(*t.FloorDiv(K(INT64_MIN), K(3)), K(-3074457345618258603));
}

TEST_F(DimTest, SymbolsWithOneNameAreOne) {
  Sym("N", 1, 100, 4);
  Sym("N", 8, 200, 6);
  const Symbol& s = t.symbol(t.FindSymbol("N"));
  EXPECT_EQ(s.min, 8);
  EXPECT_EQ(s.max, 100);
  EXPECT_EQ(s.multiple_of, 12);
  EXPECT_NE(t.FreshSymbol("N"), t.FindSymbol("N"));
  EXPECT_NE(t.FreshSymbol("u"), t.FreshSymbol("u"));
}

TEST_F(DimTest, Prints) {
  const Dim n = Sym("N"), m = Sym("batch size");
  EXPECT_EQ(t.ToString(*t.Add(*t.Mul(n, K(2)), K(1))), "2*N+1");
  EXPECT_EQ(t.ToString(*t.Sub(K(5), n)), "-N+5");
  EXPECT_EQ(t.ToString(*t.FloorDiv(*t.Add(n, K(1)), K(2))), "floordiv(N+1,2)");
  EXPECT_EQ(t.ToString(*t.Mul(n, m)), "N*\"batch size\"");
  EXPECT_EQ(t.ToString(*t.Mul(n, n)), "N*N");
  EXPECT_EQ(t.ToString(*t.Max(n, K(3))), "max(N,3)");
}

TEST_F(DimTest, HugeExpressionsStayBounded) {
  Dim d = Sym("N", 1, 1000), other = Sym("M", 1, 1000);
  for (int i = 0; i < 2000; ++i) {
    d = *t.Max(*t.FloorDiv(*t.Mul(d, other), K(7)), *t.Add(*t.Mod(d, K(5)), other));
  }
  EXPECT_LT(t.ToString(d).size(), 8192u);
}

// The same random operations on numbers and on symbols agree, in value and in range.
TEST_F(DimTest, AgreesWithNumbers) {
  std::mt19937 rng(7);
  auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  const Dim n = Sym("N", 0, 50), m = Sym("M", 1, 9), x = Sym("X", 0, 96, 8);
  int64_t agreed = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::map<SymbolId, int64_t> at{{t.FindSymbol("N"), pick(51)},
                                         {t.FindSymbol("M"), 1 + pick(9)},
                                         {t.FindSymbol("X"), 8 * pick(13)}};
    std::vector<Dim> pool{n, m, x, K(pick(9) - 3), K(1 + pick(6))};
    for (int step = 0; step < 6; ++step) {
      const Dim a = pool[pick(static_cast<int>(pool.size()))];
      const Dim b = pool[pick(static_cast<int>(pool.size()))];
      const int op = pick(8);
      auto apply = [&](DimTable& table, Dim p, Dim q) {
        switch (op) {
          case 0:
            return table.Add(p, q);
          case 1:
            return table.Sub(p, q);
          case 2:
            return table.Mul(p, q);
          case 3:
            return table.FloorDiv(p, q);
          case 4:
            return table.CeilDiv(p, q);
          case 5:
            return table.Mod(p, q);
          case 6:
            return table.Min(p, q);
          default:
            return table.Max(p, q);
        }
      };
      const auto symbolic = apply(t, a, b);
      const auto p = t.Evaluate(a, at), q = t.Evaluate(b, at);
      if (!p || !q) continue;
      const auto number = apply(t, K(*p), K(*q));
      if (!number || !symbolic) continue;
      const auto value = t.Evaluate(*symbolic, at);
      if (!value) continue;
      EXPECT_EQ(*value, number->value) << "op " << op << ": " << t.ToString(a) << " and "
                                       << t.ToString(b) << " gave " << t.ToString(*symbolic);
      const auto range = t.RangeOf(*symbolic);
      EXPECT_LE(range.lo, *value) << t.ToString(*symbolic);
      EXPECT_GE(range.hi, *value) << t.ToString(*symbolic);
      EXPECT_EQ(t.Substitute(*symbolic, at), KnownDim(*value));
      ++agreed;
      pool.push_back(*symbolic);
    }
  }
  EXPECT_GT(agreed, 10000);
}

}  // namespace
}  // namespace ge
