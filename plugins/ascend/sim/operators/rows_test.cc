// Normalizations, reductions and orders along axes, against double loops.
#include "plugins/ascend/sim/operators/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/ascend/sim/operators/operands_testing.h"

namespace ge_engines::ascend::sim {
namespace {

// The rows of a dense tensor along an axis, and back.
std::vector<Reals> RowsAlong(const Reals& values, const Dims& dims, size_t axis) {
  const Rows rows(dims, axis);
  std::vector<Reals> all;
  for (int64_t r = 0; r < rows.count(); ++r) {
    all.push_back(Values(rows.size, [&](int64_t i) {
      return values[static_cast<size_t>(rows.First(r) + i * rows.inner)];
    }));
  }
  return all;
}

const Dims kRowShapes[] = {{1}, {33}, {3, 17}, {2, 0, 3}, {2, 15, 4}, {2, 3, 16, 5}, {0, 4}};

double SumOfAll(const Reals& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

TEST(RowsTest, SoftmaxAndItsLogarithm) {
  constexpr uint32_t kSeed = 41;
  Random random(kSeed);
  for (const acl::DataType type : kRealTypes) {
    for (const Dims& dims : kRowShapes) {
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        Operand x(dims, type, acl::kNd, Operand::kStrided, &random), y(dims, type), z(dims, type);
        x.FillRandom(&random, -5, 5);
        // One axis from the back.
        const double number = static_cast<double>(axis) - static_cast<double>(dims.size());
        ASSERT_EQ(Launch("Softmax", {In(x), Number(number), Out(y)}), "");
        ASSERT_EQ(Launch("LogSoftmax", {In(x), Number(static_cast<double>(axis)), Out(z)}), "");
        const auto from = RowsAlong(x.Values(), dims, axis),
                   soft = RowsAlong(y.Values(), dims, axis),
                   logs = RowsAlong(z.Values(), dims, axis);
        for (size_t r = 0; r < from.size(); ++r) {
          Reals wanted = from[r];
          for (double& v : wanted) v = std::exp(v);
          const double sum = SumOfAll(wanted);
          for (double& v : wanted) v /= sum;
          ExpectNear(soft[r], wanted, 2 * BoundOf(type), Label("Softmax", x.tensor(), kSeed));
          for (double& v : wanted) v = std::log(v);
          ExpectNear(logs[r], wanted, 2 * BoundOf(type), Label("LogSoftmax", x.tensor(), kSeed));
        }
      }
    }
  }
}

// (x - mean) / sqrt(variance + eps) of a row; `centered`: else by its squares alone.
Reals Normalized(const Reals& x, double eps, bool centered, double* rstd) {
  const double n = static_cast<double>(x.size()), mean = centered ? SumOfAll(x) / n : 0;
  Reals y = x;
  double squares = 0;
  for (double& v : y) {
    v -= mean;
    squares += v * v;
  }
  *rstd = 1 / std::sqrt(squares / n + eps);
  for (double& v : y) v *= *rstd;
  return y;
}

TEST(RowsTest, LayersAndRootMeanSquares) {
  constexpr uint32_t kSeed = 42;
  Random random(kSeed);
  for (const acl::DataType type : kRealTypes) {
    for (const int64_t length : {1, 15, 16, 33}) {
      const Dims dims = {2, 3, length};
      Operand x(dims, type, acl::kNd, Operand::kStrided, &random), scale({length}, type),
          shift({length}, acl::kF32), y(dims, type), mean({2, 3, 1}, acl::kF32),
          rstd({2, 3, 1}, acl::kF32), z(dims, type), root({2, 3}, acl::kF32);
      x.FillRandom(&random, -5, 5);
      scale.FillRandom(&random, -2, 2);
      shift.FillRandom(&random, -2, 2);
      ASSERT_EQ(Launch("LayerNorm", {In(x), Ints({length}), In(scale), In(shift), Number(1e-3),
                                     Out(y), Out(mean), Out(rstd)}),
                "");
      ASSERT_EQ(Launch("RmsNorm", {In(x), In(scale), Number(1e-3), Out(z), Out(root)}), "");
      const auto rows = RowsAlong(x.Values(), dims, 2);
      for (size_t r = 0; r < rows.size(); ++r) {
        double one = 0, two = 0;
        Reals wanted = Normalized(rows[r], 1e-3, true, &one),
              plain = Normalized(rows[r], 1e-3, false, &two);
        for (size_t i = 0; i < wanted.size(); ++i) {
          wanted[i] = wanted[i] * scale.Values()[i] + shift.Values()[i];
          plain[i] *= scale.Values()[i];
        }
        const std::string what = Label("norm", x.tensor(), kSeed);
        ExpectNear(RowsAlong(y.Values(), dims, 2)[r], wanted, 8 * BoundOf(type), what);
        ExpectNear(RowsAlong(z.Values(), dims, 2)[r], plain, 8 * BoundOf(type), what);
        ExpectNear({rstd.Values()[r], root.Values()[r], mean.Values()[r]},
                   {one, two, SumOfAll(rows[r]) / static_cast<double>(length)}, 1e-5, what);
      }
    }
  }
}

TEST(RowsTest, ChannelsAndGroups) {
  constexpr uint32_t kSeed = 43;
  Random random(kSeed);
  const uint64_t padded = PaddedLaneReads();
  for (const acl::DataType type : kRealTypes) {
    for (const int64_t channels : {2, 16, 34}) {
      for (const acl::Format format : {acl::kNchw, acl::kNc1hwc0}) {
        const Dims dims = {2, channels, 3, 2}, row = {channels};
        Operand x(dims, type, format), y(dims, type, format), scale(row, acl::kF32),
            shift(row, acl::kF32), mean(row, acl::kF32), variance(row, acl::kF32),
            none({0}, acl::kF32), saved(row, acl::kF32);
        x.FillRandom(&random, -5, 5);
        scale.FillRandom(&random, -2, 2);
        shift.FillRandom(&random, -2, 2);
        mean.FillRandom(&random, -2, 2);
        variance.FillRandom(&random, 1, 3);
        ASSERT_EQ(
            Launch("BatchNorm", {In(x), In(scale), In(shift), In(mean), In(variance), Number(0),
                                 Number(0.1), Number(0.5), Out(y), Out(none), Out(saved)}),
            "");
        const Reals from = x.Values();
        const std::string what = Label("BatchNorm", x.tensor(), kSeed);
        ExpectNear(y.Values(),
                   Values(Count(dims),
                          [&](int64_t i) {
                            const auto c = static_cast<size_t>(i / 6 % channels);
                            return (from[static_cast<size_t>(i)] - mean.Values()[c]) /
                                       std::sqrt(variance.Values()[c] + 0.5) * scale.Values()[c] +
                                   shift.Values()[c];
                          }),
                   4 * BoundOf(type), what);
        EXPECT_TRUE(y.OthersAsBefore());
        EXPECT_NEAR(saved.Values()[0], 1 / std::sqrt(variance.Values()[0] + 0.5), 1e-6);
      }
      const Dims dims = {2, channels, 5};
      Operand x(dims, type), y(dims, type), mean({2, 2}, type), rstd({2, 2}, type);
      x.FillRandom(&random, -5, 5);
      const auto c = static_cast<double>(channels);
      ASSERT_EQ(Launch("GroupNorm", {In(x), None(), None(), Number(2), Number(c), Number(5),
                                     Number(2), Number(1e-3), Out(y), Out(mean), Out(rstd)}),
                "");
      const Dims grouped = {4, channels / 2 * 5};
      const auto from = RowsAlong(x.Values(), grouped, 1), to = RowsAlong(y.Values(), grouped, 1);
      for (size_t r = 0; r < 4; ++r) {
        double one = 0;
        ExpectNear(to[r], Normalized(from[r], 1e-3, true, &one), 8 * BoundOf(type),
                   Label("GroupNorm", x.tensor(), kSeed));
        ExpectNear({rstd.Values()[r]}, {one}, 2 * BoundOf(type), "rstd");
      }
    }
  }
  EXPECT_EQ(PaddedLaneReads(), padded);
}

struct Fold {
  const char* name;
  bool dtype;
  double (*of)(const Reals&);
};
const Fold kFolds[] = {
    {"ReduceSum", true, SumOfAll},
    {"Mean", true, [](const Reals& x) { return SumOfAll(x) / static_cast<double>(x.size()); }},
    {"Amax", false, [](const Reals& x) { return *std::max_element(x.begin(), x.end()); }},
    {"Amin", false, [](const Reals& x) { return *std::min_element(x.begin(), x.end()); }},
};

TEST(RowsTest, Reductions) {
  constexpr uint32_t kSeed = 44;
  Random random(kSeed);
  const Dims dims = {3, 17, 5};
  const Dims kAxes[] = {{0}, {1}, {-1}, {0, 2}, {2, 0, 1}, {}};
  for (const Fold& fold : kFolds) {
    for (const acl::DataType type : kRealTypes) {
      for (const Dims& axes : kAxes) {
        Operand x(dims, type, acl::kNd, Operand::kStrided, &random);
        x.FillRandom(&random, -5, 5);
        std::vector<bool> reduced(3, axes.empty());
        for (const int64_t axis : axes) reduced[static_cast<size_t>((axis + 3) % 3)] = true;
        Dims kept, ones = dims;
        for (size_t k = 0; k < 3; ++k) {
          if (!reduced[k]) kept.push_back(dims[k]);
          if (reduced[k]) ones[k] = 1;
        }
        std::vector<Reals> rows(static_cast<size_t>(Count(ones)));
        const Reals from = x.Values();
        for (int64_t i = 0; i < Count(dims); ++i) {
          rows[static_cast<size_t>(RepeatedPlace(ones, dims, i))].push_back(
              from[static_cast<size_t>(i)]);
        }
        Reals wanted;
        for (const Reals& row : rows) wanted.push_back(fold.of(row));
        for (const bool keep : {true, false}) {
          Operand y(keep ? ones : kept, type);
          Arguments given = {In(x), Ints(axes), Number(keep)};
          if (fold.dtype) given.push_back(Number(type));
          given.push_back(Out(y));
          ASSERT_EQ(Launch(fold.name, given), "");
          ExpectNear(y.Values(), wanted, 4 * BoundOf(type, 255),
                     Label(fold.name, x.tensor(), kSeed));
        }
      }
    }
  }
}

TEST(RowsTest, RunningSums) {
  Operand x({2, 3}, acl::kI64), y({2, 3}, acl::kI64);
  x.Fill({1, 2, 3, -4, 5, 6});
  ASSERT_EQ(Launch("Cumsum", {In(x), Number(1), Number(acl::kI64), Out(y)}), "");
  EXPECT_EQ(y.Values(), Reals({1, 3, 6, -4, 1, 7}));
  ASSERT_EQ(Launch("Cumsum", {In(x), Number(-2), Number(acl::kI64), Out(y)}), "");
  EXPECT_EQ(y.Values(), Reals({1, 2, 3, -3, 7, 9}));
}

TEST(RowsTest, PlacesAndTheGreatestFew) {
  constexpr uint32_t kSeed = 45;
  Random random(kSeed);
  for (const acl::DataType type : {acl::kF32, acl::kF16, acl::kBf16, acl::kI32}) {
    for (const Dims& dims : kRowShapes) {
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == 0) continue;
        const bool largest = Draw(&random, 0, 1) == 1;
        Dims few = dims, one = dims;
        few[axis] = Draw(&random, 0, dims[axis]);
        one[axis] = 1;
        Operand x(dims, type, acl::kNd, Operand::kStrided, &random), values(few, type),
            places(few, acl::kI64), place(one, acl::kI64);
        x.FillRandom(&random, -2, 2);  // with equals
        const auto number = static_cast<double>(axis);
        ASSERT_EQ(Launch("Topk", {In(x), Number(static_cast<double>(few[axis])), Number(number),
                                  Number(largest), Number(1), Out(values), Out(places)}),
                  "");
        ASSERT_EQ(
            Launch(largest ? "ArgMax" : "ArgMin", {In(x), Number(number), Number(1), Out(place)}),
            "");
        const auto rows = RowsAlong(x.Values(), dims, axis),
                   got = RowsAlong(places.Values(), few, axis),
                   best = RowsAlong(values.Values(), few, axis);
        for (size_t r = 0; r < rows.size(); ++r) {
          std::vector<size_t> order(rows[r].size());
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
            return largest ? rows[r][i] > rows[r][j] : rows[r][i] < rows[r][j];
          });
          EXPECT_EQ(place.Values()[r], static_cast<double>(order[0]));
          for (size_t i = 0; i < static_cast<size_t>(few[axis]); ++i) {
            ASSERT_EQ(got[r][i], static_cast<double>(order[i])) << Label("Topk", x.tensor(), kSeed);
            ASSERT_EQ(best[r][i], rows[r][order[i]]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ge_engines::ascend::sim
