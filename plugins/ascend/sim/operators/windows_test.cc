// Pools and nearest neighbours against double loops, plain and in blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plugins/ascend/sim/operators/operands_testing.h"

namespace ge_engines::ascend::sim {
namespace {

struct Pool {
  Dims x, kernel, stride, before, after, dilation = {1, 1};
  bool ceil = false, counts = false, most = false;
  int64_t divisor = 0;

  int64_t Windows(size_t k) const {
    const int64_t reach = dilation[k] * (kernel[k] - 1) + 1;
    // Windows one after another, as long as one begins before the image ends and, without ceil,
    // ends within the padding.
    int64_t count = 0;
    for (int64_t begin = -before[k];; begin += stride[k]) {
      const bool whole = begin + reach <= x[k + 2] + after[k];
      const bool last = ceil && begin < x[k + 2] && begin - stride[k] + reach < x[k + 2] + after[k];
      if (!whole && !last) return count;
      ++count;
    }
  }
};

double WindowOf(const Pool& p, const Reals& x, int64_t plane, int64_t row, int64_t column) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  int64_t inside = 0, padded = 0;
  for (int64_t i = 0; i < p.kernel[0]; ++i) {
    for (int64_t j = 0; j < p.kernel[1]; ++j) {
      const int64_t h = row * p.stride[0] - p.before[0] + i * p.dilation[0];
      const int64_t w = column * p.stride[1] - p.before[1] + j * p.dilation[1];
      if (h < p.x[2] + p.after[0] && w < p.x[3] + p.after[1]) ++padded;
      if (h < 0 || w < 0 || h >= p.x[2] || w >= p.x[3]) continue;
      const double value = x[static_cast<size_t>((plane * p.x[2] + h) * p.x[3] + w)];
      sum += value;
      most = std::fmax(most, value);
      ++inside;
    }
  }
  if (p.most) return most;
  return sum / static_cast<double>(p.divisor != 0 ? p.divisor : p.counts ? padded : inside);
}

Pool DrawPool(Random* random, int round) {
  constexpr int64_t kChannels[] = {1, 15, 16, 17, 33};
  Pool p;
  p.most = round % 2 == 0;
  p.x = {round % 17 == 16 ? 0 : 2, kChannels[Draw(random, 0, 4)], Draw(random, 6, 9),
         Draw(random, 6, 9)};
  for (size_t k = 0; k < 2; ++k) {
    p.kernel.push_back(Draw(random, 1, 3));
    p.stride.push_back(Draw(random, 1, 3));
    p.before.push_back(Draw(random, 0, p.kernel[k] / 2));
    p.after.push_back(p.most ? Draw(random, 0, p.kernel[k] / 2) : p.before[k]);
    if (p.most) p.dilation[k] = Draw(random, 1, 2);
  }
  p.ceil = Draw(random, 0, 1) == 1;
  p.counts = Draw(random, 0, 1) == 1;
  p.divisor = !p.most && Draw(random, 0, 3) == 0 ? 5 : 0;
  return p;
}

TEST(Windows, PoolsPlainAndInBlocks) {
  constexpr uint32_t kSeed = 31;
  Random random(kSeed);
  const uint64_t padded = PaddedLaneReads();
  for (int round = 0; round < 300; ++round) {
    const Pool p = DrawPool(&random, round);
    const acl::DataType type = kRealTypes[round % 3];
    const bool blocked = Draw(&random, 0, 1) == 1;
    const Dims yd = {p.x[0], p.x[1], p.Windows(0), p.Windows(1)};
    const acl::Format format = blocked ? acl::kNc1hwc0 : acl::kNchw;
    Operand from(p.x, type), x(p.x, type, format), y(yd, type, format);
    from.FillRandom(&random, -9, 9);
    ASSERT_EQ(Launch("NpuFormatCast", {In(from), Out(x)}), "");
    const std::string what = Label("pool", x.tensor(), kSeed) + " round " + std::to_string(round);
    if (p.most) {
      const Dims pads = {p.before[0], p.before[1], p.after[0], p.after[1]};
      ASSERT_EQ(Launch("MaxPool", {In(x), Ints(p.kernel), Ints(p.stride), Number(0), Ints(pads),
                                   Ints(p.dilation), Number(p.ceil), Out(y)}),
                "")
          << what;
    } else {
      ASSERT_EQ(Launch("AvgPool2d", {In(x), Ints(p.kernel), Ints(p.stride), Ints(p.before),
                                     Number(p.ceil), Number(p.counts),
                                     Number(static_cast<double>(p.divisor)), Number(0), Out(y)}),
                "")
          << what;
    }
    const Reals values = x.Values();
    const Reals wanted = Values(Count(yd), [&](int64_t i) {
      return WindowOf(p, values, i / (yd[2] * yd[3]), i / yd[3] % yd[2], i % yd[3]);
    });
    ExpectNear(y.Values(), wanted, 2 * BoundOf(type, 9), what);
    EXPECT_TRUE(y.OthersAsBefore()) << what;
  }
  EXPECT_EQ(PaddedLaneReads(), padded);
}

TEST(Windows, NearestNeighbours) {
  Random random(32);
  for (const acl::Format format : {acl::kNchw, acl::kNc1hwc0}) {
    Operand x({1, 17, 2, 3}, acl::kF16, format), y({1, 17, 5, 4}, acl::kF16, format);
    x.FillRandom(&random, -9, 9);
    ASSERT_EQ(Launch("UpsampleNearest2d", {In(x), Ints({5, 4}), Out(y)}), "");
    const Reals from = x.Values();
    EXPECT_EQ(y.Values(), Values(17 * 20, [&](int64_t i) {
                const int64_t row = i / 4 % 5 * 2 / 5, column = i % 4 * 3 / 4;
                return from[static_cast<size_t>((i / 20 * 2 + row) * 3 + column)];
              }));
  }
}

TEST(Windows, ANaNIsTheMost) {
  Operand x({1, 1, 1, 3}, acl::kF32, acl::kNchw), y({1, 1, 1, 2}, acl::kF32, acl::kNchw);
  x.Fill({std::nan(""), 4, 5});
  ASSERT_EQ(Launch("MaxPool", {In(x), Ints({1, 2}), Ints({1, 1}), Number(0), Ints({0, 0, 0, 0}),
                               Ints({1, 1}), Number(0), Out(y)}),
            "");
  EXPECT_TRUE(std::isnan(y.Values()[0]));
  EXPECT_EQ(y.Values()[1], 5);
}

}  // namespace
}  // namespace ge_engines::ascend::sim
