// Kernels of 8-bit integer products by themselves, in each instruction set of this host, against
// doubles: rows, columns and depths with rests, several runs, scales from nothing to far beyond the
// range, scales that put sums in the middle between two quantized values, uint8 and int8, zero
// points of weights; images transposed from channels first to last.
#include "plugins/cpu/native/quantized/dot4_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "plugins/cpu/kit/isa_sets_testing.h"

namespace ge_engines::cpu::native {
namespace {

class Dot4Products : public ::testing::TestWithParam<IsaSet> {};
INSTANTIATE_TEST_SUITE_P(Isa, Dot4Products, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

struct Case {
  int64_t rows, columns, runs, quads;
  double scale;
  bool less, negative, is_signed;
};

// What ref makes of a sum.
int CodeOf(int64_t sum, const Case& c, const Dot4Finish& f) {
  const double x = std::nearbyint(static_cast<double>(sum) * c.scale) + f.zero;
  return static_cast<int>(std::clamp<double>(x, f.least, f.most));
}

void ExpectCodes(const Dot4Kernels& kernels, const Case& c, std::mt19937* random) {
  const int64_t vectors = (c.columns + kDot4Lanes - 1) / kDot4Lanes, wide = vectors * kDot4Lanes;
  const int64_t bytes = 4 * c.quads, depth = c.runs * bytes, step = depth + 64;
  std::vector<uint8_t> x(static_cast<size_t>(c.rows * step + 64)), y(x.size() + 4096, 7);
  std::vector<int8_t> w(static_cast<size_t>(depth * wide));
  for (uint8_t& v : x) v = static_cast<uint8_t>((*random)());
  for (int8_t& v : w) v = static_cast<int8_t>((*random)());
  const std::vector<int32_t> add(64, c.negative ? -2'000'000'000 : 1000), less(64, -3);
  const std::vector<float> scale(64, static_cast<float>(c.scale * (1 << kDot4Point)));
  const std::vector<double> exact(64, c.scale);
  Dot4Finish f{add.data(), scale.data(), exact.data(), nullptr, c.less ? less.data() : nullptr};
  f.zero = 100;
  f.least = 3;
  f.most = 250;
  if (c.is_signed) {
    f.zero = -20;
    f.least = -128;
    f.most = 120;
  }
  std::vector<int64_t> at;
  for (int64_t r = 0; r < c.runs; ++r) at.push_back(r * bytes);
  Dot4Tile t = {};
  for (int64_t r = 0; r < c.rows; ++r) {
    t.x[r] = x.data() + r * step;
    t.y[r] = y.data() + r * 65;
  }
  t.rows = c.rows;
  t.at = at.data();
  t.runs = c.runs;
  t.quads = c.quads;
  t.bytes = bytes;
  t.w = w.data();
  t.columns = c.columns;
  t.vectors = vectors;
  kernels.product(t, f);
  for (int64_t r = 0; r < c.rows; ++r) {
    for (int64_t n = 0; n < c.columns; ++n) {
      int64_t sum = add[0];
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t code = x[static_cast<size_t>(r * step + k)];
        sum += code * w[static_cast<size_t>((k / 4 * wide + n) * 4 + k % 4)];
        if (c.less) sum += code * less[0];
      }
      ASSERT_EQ(y[static_cast<size_t>(r * 65 + n)], static_cast<uint8_t>(CodeOf(sum, c, f)))
          << "row " << r << " of " << n;
    }
    ASSERT_EQ(y[static_cast<size_t>(r * 65 + c.columns)], 7) << "written beyond row " << r;
  }
}

TEST_P(Dot4Products, RestsAndScales) {
  const Dot4Kernels* kernels = Dot4KernelsOf(GetParam().isa);
  if (kernels == nullptr) GTEST_SKIP() << "this processor has no dot4 kernels here";
  std::mt19937 random(5);
  const double scales[] = {1e-30, 1e-4, 0.0005, 0.002, 0.003, 0.5, 1, 1.5, 3000, 1e9, 1e30};
  for (int i = 0; i < 600; ++i) {
    const auto upto = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
    Case c = {0,          upto(64),   upto(3),   upto(i % 20 == 0 ? 600 : 20), scales[i % 11],
              i % 4 == 0, i % 5 == 0, i % 2 == 0};
    c.rows = upto(kernels->rows((c.columns + kDot4Lanes - 1) / kDot4Lanes));
    SCOPED_TRACE(testing::Message() << c.rows << " rows, " << c.columns << " columns, " << c.runs
                                    << " runs of " << c.quads << " quads, scale " << c.scale);
    ExpectCodes(*kernels, c, &random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Dot4Products, TurnedImages) {
  std::mt19937 random(6);
  for (const int64_t columns : {1, 3, 4, 5, 15, 16, 17, 32, 45, 64, 100}) {
    for (const int64_t rows : {1, 7, 15, 16, 17, 31, 48, 65, 130}) {
      const auto n = static_cast<size_t>(columns * rows);
      std::vector<uint8_t> x(n), y(n + 1, 9);
      for (uint8_t& v : x) v = static_cast<uint8_t>(random());
      GetParam().simd->transpose_bytes(x.data(), columns, rows, y.data());
      for (size_t i = 0; i < n; ++i) {
        const size_t c = i / static_cast<size_t>(rows), r = i % static_cast<size_t>(rows);
        ASSERT_EQ(y[r * static_cast<size_t>(columns) + c], x[i]) << columns << " by " << rows;
      }
      ASSERT_EQ(y[n], 9);
    }
  }
}

}  // namespace
}  // namespace ge_engines::cpu::native
