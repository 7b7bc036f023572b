// Products and convolutions against double loops.
#include <gtest/gtest.h>

#include <array>

#include "plugins/ascend/sim/operators/operands_testing.h"

namespace ge_engines::ascend::sim {
namespace {

// [batch][m][n] of factors [batch or 1][m][k] and [batch or 1][k][n].
Reals ProductOf(const Reals& x, const Reals& y, int64_t batch, int64_t m, int64_t k, int64_t n) {
  const bool one_x = static_cast<int64_t>(x.size()) == m * k,
             one_y = static_cast<int64_t>(y.size()) == k * n;
  return Values(batch * m * n, [&](int64_t i) {
    const int64_t b = i / (m * n), row = i / n % m, column = i % n;
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += x[static_cast<size_t>(((one_x ? 0 : b) * m + row) * k + j)] *
             y[static_cast<size_t>(((one_y ? 0 : b) * k + j) * n + column)];
    }
    return sum;
  });
}

const std::array<int64_t, 3> kSizes[] = {{1, 1, 1},   {1, 17, 33}, {15, 16, 17}, {16, 33, 1},
                                         {33, 15, 9}, {5, 0, 4},   {0, 3, 2},    {7, 70, 20}};

TEST(Products, MatricesInAnyStridesAndInFractals) {
  constexpr uint32_t kSeed = 21;
  Random random(kSeed);
  const uint64_t padded = PaddedLaneReads();
  for (const acl::DataType type : kRealTypes) {
    for (const auto& [m, k, n] : kSizes) {
      for (const int how : {0, 1, 2, 3}) {
        const acl::Format format = how < 2 ? acl::kNd : acl::kFractalNz;
        const Operand::Layout layout = how == 1   ? Operand::kStrided
                                       : how == 3 ? Operand::kTurned
                                                  : Operand::kDense;
        Operand x({m, k}, type, acl::kNd, Operand::kStrided, &random),
            y({k, n}, type, format, layout, &random),
            z({m, n}, type, acl::kNd, Operand::kStrided, &random);
        Operand plain({k, n}, type);
        plain.FillRandom(&random, -2, 2);
        x.FillRandom(&random, -2, 2);
        if (how >= 2) {
          ASSERT_EQ(Launch("NpuFormatCast", {In(plain), Out(y)}), "");
        }
        y.Fill(plain.Values());
        ASSERT_EQ(Launch("Matmul", {In(x), In(y), Out(z), Number(0)}), "");
        ExpectNear(z.Values(), ProductOf(x.Values(), y.Values(), 1, m, k, n), BoundOf(type, k) * 4,
                   Label("Matmul", y.tensor(), kSeed));
        EXPECT_TRUE(z.OthersAsBefore());
      }
    }
  }
  EXPECT_EQ(PaddedLaneReads(), padded);
}

TEST(Products, BatchesAreRepeated) {
  constexpr uint32_t kSeed = 22;
  Random random(kSeed);
  const Dims kCases[][3] = {{{3, 4, 5}, {5, 6}, {3, 4, 6}},
                            {{4, 5}, {3, 5, 6}, {3, 4, 6}},
                            {{3, 4, 5}, {3, 5, 6}, {3, 4, 6}},
                            {{1, 3, 4, 5}, {1, 1, 5, 6}, {1, 3, 4, 6}},
                            {{5}, {5, 6}, {6}},
                            {{4, 5}, {5}, {4}},
                            {{5}, {5}, {}},
                            {{0, 4, 5}, {5, 6}, {0, 4, 6}}};
  for (const auto& dims : kCases) {
    for (const acl::Format format : {acl::kNd, acl::kFractalNz}) {
      if (format != acl::kNd && dims[1].size() < 2) continue;
      Operand x(dims[0], acl::kF16), y(dims[1], acl::kF16, format), z(dims[2], acl::kF16);
      x.FillRandom(&random, -2, 2);
      y.FillRandom(&random, -2, 2);
      ASSERT_EQ(Launch("Matmul", {In(x), In(y), Out(z), Number(1)}), "");
      const int64_t m = dims[0].size() == 1 ? 1 : 4, n = dims[1].size() == 1 ? 1 : 6;
      ExpectNear(z.Values(), ProductOf(x.Values(), y.Values(), Count(dims[2]) / (m * n), m, 5, n),
                 BoundOf(acl::kF16, 5), Label("Matmul", x.tensor(), kSeed));
    }
  }
}

TEST(Products, BatchMatMulAndAddmm) {
  constexpr uint32_t kSeed = 23;
  Random random(kSeed);
  for (const acl::DataType type : kRealTypes) {
    Operand x({2, 3, 17}, type), y({2, 17, 5}, type, acl::kFractalNz, Operand::kTurned),
        z({2, 3, 5}, type);
    x.FillRandom(&random, -2, 2);
    y.FillRandom(&random, -2, 2);
    ASSERT_EQ(Launch("BatchMatMul", {In(x), In(y), Out(z), Number(0)}), "");
    ExpectNear(z.Values(), ProductOf(x.Values(), y.Values(), 2, 3, 17, 5), BoundOf(type, 17),
               Label("BatchMatMul", x.tensor(), kSeed));
    Operand a({3, 17}, type), b({17, 5}, type), c({5}, type), d({3, 5}, type);
    a.FillRandom(&random, -2, 2);
    b.FillRandom(&random, -2, 2);
    c.FillRandom(&random, -2, 2);
    ASSERT_EQ(Launch("Addmm", {In(c), In(a), In(b), Scalar(2), Scalar(0.5f), Out(d), Number(0)}),
              "");
    Reals wanted = ProductOf(a.Values(), b.Values(), 1, 3, 17, 5);
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = wanted[i] / 2 + 2 * c.Values()[i % 5];
    ExpectNear(d.Values(), wanted, BoundOf(type, 17), Label("Addmm", a.tensor(), kSeed));
  }
}

TEST(Products, CubeMathTwoRoundsFactors) {
  Operand x({1, 1}, acl::kF32), y({1, 1}, acl::kF32), z({1, 1}, acl::kF32);
  x.Fill({1 + 0x1p-20});
  y.Fill({1});
  ASSERT_EQ(Launch("Matmul", {In(x), In(y), Out(z), Number(0)}), "");
  EXPECT_EQ(z.Values()[0], 1 + 0x1p-20);
  ASSERT_EQ(Launch("Matmul", {In(x), In(y), Out(z), Number(2)}), "");
  EXPECT_EQ(z.Values()[0], 1);
}

// ---- convolutions ------------------------------------------------------------------------------

using Three = std::array<int64_t, 3>;
struct Case {
  size_t axes;
  int64_t images, groups, in, out;  // channels of a group
  Three x, w, stride, padding, dilation, more;
  bool transposed;
};

Three SizesOf(const Case& c) {
  Three y;
  for (size_t k = 0; k < 3; ++k) {
    const int64_t reach = c.dilation[k] * (c.w[k] - 1) + 1;
    y[k] = c.transposed ? (c.x[k] - 1) * c.stride[k] - 2 * c.padding[k] + reach + c.more[k]
                        : (c.x[k] + 2 * c.padding[k] - reach) / c.stride[k] + 1;
  }
  return y;
}

// Each product of an element of the input and one of the filters, where it lands.
Reals ConvolutionOf(const Case& c, const Reals& x, const Reals& w, const Reals& bias) {
  const Three y = SizesOf(c);
  const int64_t xs = c.x[0] * c.x[1] * c.x[2], ws = c.w[0] * c.w[1] * c.w[2],
                ys = y[0] * y[1] * y[2];
  Reals out = Values(c.images * c.groups * c.out * ys, [&](int64_t i) {
    return bias.empty() ? 0.0 : bias[static_cast<size_t>(i / ys % (c.groups * c.out))];
  });
  const Three& small = c.transposed ? c.x : y;
  const Three& large = c.transposed ? y : c.x;
  for (int64_t n = 0; n < c.images * c.groups; ++n) {
    for (int64_t pair = 0; pair < c.in * c.out; ++pair) {
      const int64_t i = pair / c.out, o = pair % c.out, g = n % c.groups;
      const int64_t filter = c.transposed ? (g * c.in + i) * c.out + o : (g * c.out + o) * c.in + i;
      for (int64_t tap = 0; tap < ws; ++tap) {
        const Three t = {tap / (c.w[1] * c.w[2]), tap / c.w[2] % c.w[1], tap % c.w[2]};
        for (int64_t s = 0; s < small[0] * small[1] * small[2]; ++s) {
          const Three at = {s / (small[1] * small[2]), s / small[2] % small[1], s % small[2]};
          int64_t place = 0;
          bool inside = true;
          for (size_t k = 0; k < 3; ++k) {
            const int64_t p = at[k] * c.stride[k] - c.padding[k] + t[k] * c.dilation[k];
            inside = inside && p >= 0 && p < large[k];
            place = place * large[k] + p;
          }
          if (!inside) continue;
          const int64_t from = c.transposed ? s : place, to = c.transposed ? place : s;
          out[static_cast<size_t>((n * c.out + o) * ys + to)] +=
              x[static_cast<size_t>((n * c.in + i) * xs + from)] *
              w[static_cast<size_t>(filter * ws + tap)];
        }
      }
    }
  }
  return out;
}

Case DrawCase(Random* random, int round) {
  constexpr int64_t kChannels[] = {1, 15, 16, 17, 33, 2, 3};
  Case c;
  c.axes = static_cast<size_t>(1 + round % 3);
  c.transposed = round % 4 == 3;
  c.images = round % 19 == 18 ? 0 : Draw(random, 1, 2);
  c.groups = Draw(random, 0, 2) == 0 ? Draw(random, 2, 3) : 1;
  c.in = kChannels[Draw(random, 0, 6)];
  c.out = kChannels[Draw(random, 0, 6)];
  if (Draw(random, 0, 4) == 0) {  // of each channel alone
    c.groups = kChannels[Draw(random, 0, 4)];
    c.in = c.out = 1;
  }
  for (size_t k = 0; k < 3; ++k) {
    const bool used = k >= 3 - c.axes;
    c.w[k] = used ? Draw(random, 1, 3) : 1;
    c.stride[k] = used ? Draw(random, 1, 3) : 1;
    c.dilation[k] = used ? Draw(random, 1, 2) : 1;
    c.padding[k] = used ? Draw(random, 0, c.w[k] - 1) : 0;
    c.x[k] = used ? Draw(random, c.dilation[k] * (c.w[k] - 1) + 1, c.axes == 3 ? 6 : 13) : 1;
    c.more[k] = used && c.transposed && c.stride[k] > 1 ? Draw(random, 0, 1) : 0;
  }
  return c;
}

void TryConvolution(const Case& c, acl::DataType type, bool blocked, bool biased, uint32_t seed,
                    Random* random) {
  const Three y = SizesOf(c);
  const auto dims = [&](int64_t first, int64_t second, const Three& spatial) {
    Dims all = {first, second};
    all.insert(all.end(), spatial.end() - static_cast<std::ptrdiff_t>(c.axes), spatial.end());
    return all;
  };
  const auto ints = [&](const Three& three) {
    return Ints(Dims(three.end() - static_cast<std::ptrdiff_t>(c.axes), three.end()));
  };
  const acl::Format plain = c.axes == 1 ? acl::kNcl : c.axes == 2 ? acl::kNchw : acl::kNcdhw;
  const acl::Format format = blocked ? acl::kNc1hwc0 : plain;
  const Operand::Layout layout = blocked ? Operand::kDense : Operand::kStrided;
  const Dims xd = dims(c.images, c.groups * c.in, c.x);
  Operand x(xd, type, format, layout, random), from(xd, type),
      w(c.transposed ? dims(c.groups * c.in, c.out, c.w) : dims(c.groups * c.out, c.in, c.w), type,
        plain),
      bias({c.groups * c.out}, type),
      out(dims(c.images, c.groups * c.out, y), type, format, layout, random);
  from.FillRandom(random, -2, 2);
  if (blocked) {
    ASSERT_EQ(Launch("NpuFormatCast", {In(from), Out(x)}), "");
  }
  x.Fill(from.Values());
  w.FillRandom(random, -2, 2);
  bias.FillRandom(random, -2, 2);
  const std::string what = Label("Convolution", x.tensor(), seed);
  ASSERT_EQ(
      Launch("Convolution", {In(x), In(w), biased ? In(bias) : None(), ints(c.stride),
                             ints(c.padding), ints(c.dilation), Number(c.transposed), ints(c.more),
                             Number(static_cast<double>(c.groups)), Out(out), Number(0)}),
      "")
      << what;
  ExpectNear(out.Values(),
             ConvolutionOf(c, x.Values(), w.Values(), biased ? bias.Values() : Reals()),
             4 * BoundOf(type, c.in * Count(dims(1, 1, c.w))), what);
  EXPECT_TRUE(out.OthersAsBefore()) << what;
}

TEST(Convolutions, PlainAndInBlocks) {
  constexpr uint32_t kSeed = 24;
  Random random(kSeed);
  const uint64_t padded = PaddedLaneReads();
  for (int round = 0; round < 240; ++round) {
    const Case c = DrawCase(&random, round);
    const Three y = SizesOf(c);
    if (y[0] < 1 || y[1] < 1 || y[2] < 1) continue;
    TryConvolution(c, kRealTypes[Draw(&random, 0, 2)], c.axes == 2 && Draw(&random, 0, 1) == 0,
                   Draw(&random, 0, 1) == 0, kSeed, &random);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(PaddedLaneReads(), padded);
}

}  // namespace
}  // namespace ge_engines::ascend::sim
