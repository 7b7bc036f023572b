// Copies between layouts against plain nested loops, in each instruction set of this host.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>

#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/loop_trial_testing.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu {
namespace {

class Copies : public ::testing::TestWithParam<IsaSet> {
 protected:
  const Simd& simd() const { return *GetParam().simd; }
};
INSTANTIATE_TEST_SUITE_P(Isa, Copies, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

TEST_P(Copies, BetweenAllLayouts) {
  for (const Dims& d : {Dims{2, 3, 5, 7}, Dims{1, 35, 9, 11}, Dims{3, 16, 4, 4},
                        Dims{2, 64, 20, 20}, Dims{1, 3, 64, 130}}) {
    const std::vector<Layout> layouts = {Layout::Dense(d), Layout::ChannelsLast(d),
                                         Layout::Blocked(d, 8), Layout::Blocked(d, 16)};
    for (const Layout& from : layouts) {
      for (const Layout& to : layouts) {
        std::vector<float> x = Random(from.extent(), 1), y(Z(to.extent()), 99.0f);
        RunLoop(*CopyLoop(simd(), to, {{from, to, Dims(4, 0), Dims(4, 0), d}}),
                {y.data(), x.data()});
        Dims at(4, 0);
        do {
          ASSERT_EQ(y[Z(Offset(to, at))], x[Z(Offset(from, at))]);
          y[Z(Offset(to, at))] = 0;
        } while (Next(d, &at));
        for (float v : y) ASSERT_EQ(v, 0.0f);  // the padding
      }
    }
  }
}

TEST_P(Copies, OfPermutedAxes) {
  const Dims d = {3, 10, 12, 20};
  std::vector<int> order = {0, 1, 2, 3};
  const Layout dense = Layout::Dense(d);
  std::vector<float> x = Random(dense.extent(), 2);
  do {
    Dims transposed;
    for (int i : order) transposed.push_back(d[Z(i)]);
    const Layout to = Layout::Dense(transposed);
    Layout from = to;  // the same elements seen through the source's strides
    for (size_t i = 0; i < 4; ++i) from.stride[i] = dense.stride[order[i]];
    std::vector<float> y(x.size());
    RunLoop(*CopyLoop(simd(), to, {{from, to, Dims(4, 0), Dims(4, 0), transposed}}),
            {y.data(), x.data()});
    Dims at(4, 0);
    do {
      ASSERT_EQ(y[Z(Offset(to, at))], x[Z(Offset(from, at))]);
    } while (Next(transposed, &at));
  } while (std::next_permutation(order.begin(), order.end()));
}

// Fewer rows than pieces for the threads: each row is cut.
TEST_P(Copies, OfAFewLongRows) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 3, 4}) {
    omp_set_num_threads(threads);
    for (const int64_t rows : {1, 2, 5}) {
      for (const int64_t n : {kLongCopy / rows - 1, kLongCopy / rows + 1, kLongCopy + int64_t{3}}) {
        const Dims d = {rows, n};
        const Layout to = Layout::Dense(d);
        Layout from = to;
        from.stride[0] = n + 5;
        const std::vector<float> x = Random(rows * (n + 5), 3);
        std::vector<float> y(Z(rows * n), 99.0f);
        RunLoop(*CopyLoop(simd(), to, {{from, to, Dims(2, 0), Dims(2, 0), d}}),
                {y.data(), const_cast<float*>(x.data())});
        for (int64_t r = 0; r < rows; ++r) {
          ASSERT_TRUE(std::equal(&y[Z(r * n)], &y[Z(r * n)] + n, &x[Z(r * (n + 5))]))
              << threads << " threads, row " << r << " of " << rows << " x " << n;
        }
      }
    }
  }
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace ge_engines::cpu
