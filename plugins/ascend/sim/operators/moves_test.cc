// Moves and look-ups against loops over places.
#include <gtest/gtest.h>

#include <cmath>

#include "plugins/ascend/sim/operators/operands_testing.h"

namespace ge_engines::ascend::sim {
namespace {

// Of distinct numbers, so that each place shows.
Operand Counted(const Dims& dims, acl::DataType type, Random* random) {
  Operand x(dims, type, acl::kNd, Operand::kStrided, random);
  x.Fill(Values(Count(dims), [](int64_t i) { return static_cast<double>(i + 1); }));
  return x;
}

// The place in dense dims of the coordinates of y's i-th element, changed.
Reals Moved(const Operand& x, const Dims& y, double otherwise,
            const std::function<bool(Dims*)>& from) {
  const Reals values = x.Values();
  return Values(Count(y), [&](int64_t i) {
    Dims at(y.size());
    for (size_t k = y.size(); k-- > 0;) {
      at[k] = i % y[k];
      i /= y[k];
    }
    if (!from(&at)) return otherwise;
    int64_t place = 0;
    for (size_t k = 0; k < x.tensor().dims.size(); ++k) place = place * x.tensor().dims[k] + at[k];
    return values[static_cast<size_t>(place)];
  });
}

constexpr acl::DataType kMoved[] = {acl::kF32, acl::kF16, acl::kBf16, acl::kI64, acl::kU8};

TEST(Moves, SlicesAndPermutations) {
  Random random(51);
  for (const acl::DataType type : kMoved) {
    const Operand x = Counted({3, 7, 2}, type, &random);
    Operand y({3, 3, 2}, type, acl::kNd, Operand::kStrided, &random), z({2, 3, 7}, type),
        none({3, 0, 2}, type);
    ASSERT_EQ(Launch("Slice", {In(x), Number(1), Number(1), Number(-1), Number(2), Out(y)}), "");
    EXPECT_EQ(y.Values(), Moved(x, {3, 3, 2}, 0, [](Dims* at) {
                (*at)[1] = 1 + 2 * (*at)[1];
                return true;
              }));
    EXPECT_TRUE(y.OthersAsBefore());
    EXPECT_EQ(Launch("Slice", {In(x), Number(1), Number(4), Number(2), Number(1), Out(none)}), "");
    ASSERT_EQ(Launch("Permute", {In(x), Ints({2, 0, -2}), Out(z)}), "");
    EXPECT_EQ(z.Values(), Moved(x, {2, 3, 7}, 0, [](Dims* at) {
                *at = {(*at)[1], (*at)[2], (*at)[0]};
                return true;
              }));
  }
}

TEST(Moves, ExpansionRepetitionAndPads) {
  Random random(52);
  for (const acl::DataType type : kMoved) {
    const Operand x = Counted({3, 1, 2}, type, &random);
    Operand y({2, 3, 4, 2}, type), z({2, 6, 1, 6}, type), p({3, 2, 5}, type);
    ASSERT_EQ(Launch("Expand", {In(x), Ints({2, 3, 4, 2}), Out(y)}), "");
    EXPECT_EQ(y.Values(), Moved(x, {2, 3, 4, 2}, 0, [](Dims* at) {
                *at = {(*at)[1], 0, (*at)[3]};
                return true;
              }));
    ASSERT_EQ(Launch("Repeat", {In(x), Ints({2, 2, 1, 3}), Out(z)}), "");
    EXPECT_EQ(z.Values(), Moved(x, {2, 6, 1, 6}, 0, [](Dims* at) {
                *at = {(*at)[1] % 3, 0, (*at)[3] % 2};
                return true;
              }));
    // The last axis first: one before and two behind it, then one behind the middle one.
    ASSERT_EQ(Launch("ConstantPadNd", {In(x), Ints({1, 2, 0, 1}), Whole(9), Out(p)}), "");
    EXPECT_EQ(p.Values(), Moved(x, {3, 2, 5}, 9, [](Dims* at) {
                (*at)[2] -= 1;
                return (*at)[2] >= 0 && (*at)[2] < 2 && (*at)[1] == 0;
              }));
  }
}

TEST(Moves, ConcatenationAndTriangles) {
  Random random(53);
  for (const acl::DataType type : kMoved) {
    const Operand x = Counted({2, 3}, type, &random), none({2, 0}, type),
                  z = Counted({2, 17}, type, &random);
    Operand y({2, 20}, type, acl::kNd, Operand::kStrided, &random);
    ASSERT_EQ(Launch("Cat", {List({&x, &none, &z}), Number(-1), Out(y)}), "");
    EXPECT_EQ(y.Values(), Values(40, [&](int64_t i) {
                const int64_t row = i / 20, column = i % 20;
                return column < 3 ? x.Values()[static_cast<size_t>(row * 3 + column)]
                                  : z.Values()[static_cast<size_t>(row * 17 + column - 3)];
              }));
    EXPECT_TRUE(y.OthersAsBefore());
    const Operand matrix = Counted({2, 3, 4}, type, &random);
    for (const int64_t diagonal : {-9, -1, 0, 2, 9}) {
      Operand low({2, 3, 4}, type), high({2, 3, 4}, type);
      const Argument number = Number(static_cast<double>(diagonal));
      ASSERT_EQ(Launch("Tril", {In(matrix), number, Out(low)}), "");
      ASSERT_EQ(Launch("Triu", {In(matrix), number, Out(high)}), "");
      EXPECT_EQ(low.Values(), Moved(matrix, {2, 3, 4}, 0,
                                    [&](Dims* at) { return (*at)[2] - (*at)[1] <= diagonal; }));
      EXPECT_EQ(high.Values(), Moved(matrix, {2, 3, 4}, 0,
                                     [&](Dims* at) { return (*at)[2] - (*at)[1] >= diagonal; }));
    }
  }
}

TEST(Moves, RowsOfNumbers) {
  Operand whole({3}, acl::kI64), real({4}, acl::kF16);
  ASSERT_EQ(Launch("Arange", {Whole(5), Whole(-1), Whole(-2), Out(whole)}), "");
  EXPECT_EQ(whole.Values(), Reals({5, 3, 1}));
  ASSERT_EQ(Launch("Arange", {Scalar(0.5f), Scalar(1.4f), Scalar(0.25f), Out(real)}), "");
  EXPECT_EQ(real.Values(), Reals({0.5, 0.75, 1, 1.25}));
  EXPECT_EQ(Launch("Arange", {Whole(0), Whole(5), Whole(0), Out(whole)}), "step: 0");
}

TEST(Indices, LookUps) {
  Random random(54);
  for (const acl::DataType type : kMoved) {
    const Operand x = Counted({2, 5, 3}, type, &random);
    Operand index({2, 2}, acl::kI64, acl::kNd, Operand::kStrided, &random), row({4}, acl::kI32);
    index.Fill({4, 0, 1, 1});
    row.Fill({4, 0, 1, 1});
    Operand y({2, 2, 2, 3}, type), z({2, 4, 3}, type);
    ASSERT_EQ(Launch("GatherV2", {In(x), Number(1), In(index), Out(y)}), "");
    ASSERT_EQ(Launch("IndexSelect", {In(x), Number(-2), In(row), Out(z)}), "");
    const Reals wanted = Moved(x, {2, 4, 3}, 0, [&](Dims* at) {
      (*at)[1] = static_cast<int64_t>(row.Values()[static_cast<size_t>((*at)[1])]);
      return true;
    });
    EXPECT_EQ(y.Values(), wanted);
    EXPECT_EQ(z.Values(), wanted);
    Operand each({1, 3, 2}, acl::kI64), found({1, 3, 2}, type);
    each.Fill({0, 1, 2, 3, 4, 0});
    ASSERT_EQ(Launch("Gather", {In(x), Number(1), In(each), Out(found)}), "");
    EXPECT_EQ(found.Values(), Reals({1, 5, 7, 11, 13, 2}));
  }
}

TEST(Indices, CopiesAndOneHotRows) {
  Random random(55);
  Operand cache({2, 5, 3}, acl::kF16, acl::kNd, Operand::kStrided, &random),
      rows({2, 2, 3}, acl::kF16), index({2}, acl::kI64);
  cache.FillRandom(&random, 0, 0);
  rows.Fill(Values(12, [](int64_t i) { return static_cast<double>(i + 1); }));
  index.Fill({3, 0});
  ASSERT_EQ(Launch("InplaceIndexCopy", {Out(cache), Number(1), In(index), In(rows)}), "");
  EXPECT_EQ(cache.Values(), Reals({4,  5,  6,  0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0,  //
                                   10, 11, 12, 0, 0, 0, 0, 0, 0, 7, 8, 9, 0, 0, 0}));
  EXPECT_TRUE(cache.OthersAsBefore());
  Operand classes({3}, acl::kI32), on({1}, acl::kF32), off({1}, acl::kF32), y({3, 2}, acl::kF32),
      z({2, 3}, acl::kF32);
  classes.Fill({1, 0, 2});
  on.Fill({5});
  off.Fill({-1});
  ASSERT_EQ(Launch("OneHot", {In(classes), Number(2), In(on), In(off), Number(-1), Out(y)}), "");
  EXPECT_EQ(y.Values(), Reals({-1, 5, 5, -1, -1, -1}));
  ASSERT_EQ(Launch("OneHot", {In(classes), Number(2), In(on), In(off), Number(0), Out(z)}), "");
  EXPECT_EQ(z.Values(), Reals({-1, 5, -1, 5, -1, -1}));
}

// What phase one cannot see fails late.
TEST(Indices, OutOfRangeFailsTheWork) {
  Operand x({2, 5}, acl::kF32), index({3}, acl::kI64), y({2, 3}, acl::kF32);
  for (const int64_t wrong : {5, -1}) {
    index.Fill({0, static_cast<double>(wrong), 1});
    const std::string text = ": index " + std::to_string(wrong) + " at element 1, the axis has 5";
    for (const char* name : {"GatherV2", "IndexSelect"}) {
      const Arguments given = {In(x), Number(1), In(index), Out(y)};
      ASSERT_EQ(FindOperation(name)->check(given), "");
      try {
        FindOperation(name)->run(given, nullptr);
        FAIL() << name;
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.what(), name + text);
      }
    }
    EXPECT_THROW(Launch("InplaceIndexCopy", {Out(x), Number(1), In(index), In(y)}), Failure);
  }
  Operand whole({1}, acl::kI32), zero({1}, acl::kI32), rest({1}, acl::kI32);
  zero.Fill({0});
  EXPECT_THROW(Launch("FmodTensor", {In(whole), In(zero), Out(rest)}), Failure);
}

}  // namespace
}  // namespace ge_engines::ascend::sim
