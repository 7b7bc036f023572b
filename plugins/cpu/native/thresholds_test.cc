// Runs both sides of every size of thresholds.def, and the tails of the tiles around it. A row of
// the table without a sweep does not compile.
#include "plugins/cpu/kit/thresholds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/native/attention/sweeps_testing.h"
#include "plugins/cpu/native/conv/sweeps_testing.h"
#include "plugins/cpu/native/matmul/sweeps_testing.h"
#include "plugins/cpu/native/quantized/sweeps_testing.h"

namespace ge_engines::cpu::native {
namespace {

void Sweep_kParallel(int64_t at) {
  for (const int64_t n : {31, 32, 33}) SweepWhere(8, at / 256, n);
  for (const int64_t n : {at - 1, at, at + 1, at + 33}) {
    SweepPointwise(1, n);
    SweepCompareAndSelect(n);
    SweepQuantize(n);
    SweepLayerNorm(2, n / 2);
    SweepRmsNorm(2, n / 2);
    SweepSoftmax(2, n / 2, 1);
    SweepReduce(2, n / 2, 1);
  }
  for (const int64_t rows : {31, 32, 33, 37}) {  // times 512: below, at and above
    SweepPointwise(rows, at / 32);
    SweepLayerNorm(rows, at / 32);
    SweepRmsNorm(rows, at / 32);
    SweepSoftmax(rows, at / 32, 1);
    SweepSoftmax(1, at / 32, rows);
    SweepReduce(1, at / 32, rows);
    SweepReduce(rows, at / 32, 1);
    SweepTranspose(rows, at / 32);
    SweepPool(rows, 3, at / 96 + 2, 3);
  }
  for (const int64_t m : {1, 5, 7, 8, 13, 33}) {
    for (const int64_t k : {127, 128, 129}) SweepProductLoop(1, m, at / 128, k);
    SweepProductLoop(3, m, 100, at / 300 + 1);
  }
}
void Sweep_kParallelBytes(int64_t at) {
  for (const int64_t inner : {1, 2, 3, 17}) {
    const int64_t count = at / (4 * inner);
    for (const int64_t n : {count - 1, count, count + 1, count + 65}) SweepGather(1, n, inner);
  }
}
void Sweep_kParallelQuantized(int64_t at) {
  for (const int64_t n : {63, 64, 65, 71}) SweepCodes(32, n, at / 2048);
}
void Sweep_kPanelParallel(int64_t at) {
  for (const int64_t k : {at / 1024 - 1, at / 1024, at / 1024 + 1}) {
    SweepPanels(16, 64, k);
    SweepPanels(1, 1024, k);
    SweepPanels(32, 32, k);  // one panel: rows are shared
  }
}
void Sweep_kPanelThinRows(int64_t at) {
  for (int64_t m = 1; m <= 2 * at + 3; ++m) {
    for (const int64_t n : {1, 7, 8, 9, 16, 31, 32, 33, 65, 96, 130}) SweepPanels(m, n, 37);
    SweepPanels(m, 300, 301);
  }
  for (int64_t k = 0; k <= 5; ++k) SweepPanels(3, 40, k);
}
void Sweep_kAttendThinRows(int64_t at) {
  for (const int64_t rows : {int64_t{1}, int64_t{3}, at - 1, at, at + 1, 2 * at + 1}) {
    for (const int64_t keys : {1, 7, 40}) SweepAttend(rows, keys, 13, 9);
    SweepAttend(rows, 33, 64, 64);
  }
}
void Sweep_kAttendThinKeys(int64_t at) {
  for (const int64_t keys : {at - 1, at, at + 1, 2 * at + 5}) SweepAttend(2, keys, 16, 24);
}
void Sweep_kAttendKeys(int64_t at) {
  for (const int64_t keys : {at - 1, at, at + 1, 2 * at + 50}) {
    SweepAttend(11, keys, 32, 50);
    SweepAttend(70, keys, 7, 33);
  }
}
void Sweep_kAttendRows(int64_t at) {
  for (const int64_t rows : {at - 1, at, at + 1, 2 * at + 7}) SweepAttend(rows, 101, 17, 48);
}
void Sweep_kAttendChunk(int64_t at) {
  for (const int64_t rows : {at - 1, at, at + 1, 2 * at + 3}) SweepAttend(rows, 60, 8, 16);
}
void Sweep_kDecodedRows(int64_t at) {
  for (const int64_t k : {at - 16, at - 1, at, at + 1, at + 37, 2 * at, 3 * at + 5}) {
    SweepNBits(9, 50, k, {4, 32, 0});
    SweepNBits(7, 97, k, {8, 2 * at, 1});  // blocks longer than what is made at once
  }
  for (int64_t m = 1; m <= 14; ++m) {
    for (const int zero_bytes : {0, 1, 4}) {
      for (const int bits : {2, 4, 8}) SweepNBits(m, 101, 61, {bits, 16, zero_bytes});
    }
    SweepNBits(m, 33, 150, {4, 64, 1});
  }
  SweepNBits(2 * kPanelRows + 3, 130, 40, {4, 16, 4});
}
void Sweep_kPanelPieces(int64_t at) {
  for (const int64_t columns : {8, 16, 48}) {  // of a panel
    for (int64_t panels = 1; panels <= 2 * at + 2; ++panels) {
      for (const int64_t m : {1, 4, 12}) SweepPanels(m, columns * panels, 700);
    }
    SweepPanels(1, columns * at * 7 + 3, 300);  // pieces of several panels
  }
}
void Sweep_kPanelRows(int64_t at) {
  for (const int64_t m : {at - 1, at, at + 1, 2 * at, 2 * at + 5}) {
    SweepPanels(m, 40, 9);
    SweepPanels(2 * m, 72, 9);
  }
}
void Sweep_kPanelsOfTile(int64_t at) {
  for (const int64_t columns : {8, 16, 48}) {  // of a panel: SSE4.2, AVX2, AVX-512
    for (const int64_t n : {columns * at - 1, columns * at, columns * at + 1}) {
      for (const int64_t m : {1, 5, 13}) {
        SweepPanels(m, n, 11);
        SweepPanels(m, 2 * n, 90);
      }
    }
  }
}
void Sweep_kStripColumns(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1, 2 * at - 1, 2 * at + 1, 3 * at, 4 * at + 1}) {
    for (const int64_t m : {1, 5, 7}) SweepProductLoop(1, m, n, 400);
  }
}
void Sweep_kCopyPieces(int64_t at) {
  const int64_t all = at * omp_get_max_threads();
  for (const int64_t rows : {all - 1, all, all + 1, 2 * all + 1}) SweepTranspose(rows, 4099);
}
void Sweep_kCopyLines(int64_t at) {
  for (const int64_t n : {8 * at - 1, 8 * at, 8 * at + 1, 9 * at + 3}) {
    SweepTranspose(n, 41);
    SweepTranspose(41, n);
  }
}
void Sweep_kLongCopy(int64_t at) {
  for (const int64_t rows : {1, 2, 3}) {
    for (const int64_t n : {at / rows - 1, at / rows, at / rows + 1, at / rows + 2}) {
      const Dims d = {rows, n};
      const Layout to = Layout::Dense(d);
      Layout from = to;
      from.stride[0] = n + 3;
      const float* x = Numbers(rows * (n + 3));
      InEachSetting([&](const Setting& s) {
        std::vector<float> y(Z(rows * n + 1), kGuard);
        RunLoop(*CopyLoop(s.simd(), to, {{from, to, Dims(2, 0), Dims(2, 0), d}}),
                {y.data(), const_cast<float*>(x)});
        for (int64_t r = 0; r < rows; ++r) {
          ASSERT_TRUE(std::equal(x + r * (n + 3), x + r * (n + 3) + n, &y[Z(r * n)])) << rows << n;
        }
        ASSERT_EQ(y.back(), kGuard);
      });
    }
  }
}
void Sweep_kGatherIndices(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1, 2 * at, 2 * at + 1}) SweepGather(3, n, 100);
}
void Sweep_kGatherBlocks(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1, 2 * at + 1}) {
    for (const int64_t inner : {1, 2, 3}) SweepGather(n, 70, inner);
  }
}
void Sweep_kQuantizeElements(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1, 2 * at + 1, 3 * at - 1, 3 * at + 7}) SweepQuantize(n);
}
void Sweep_kTile(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1, at + 17, 2 * at - 1, 2 * at + 1}) {
    SweepPointwise(3, n);
    SweepCompareAndSelect(9 * n);
    SweepWhere(1, 1, n);
    SweepWhere(2, 3, n / 2);
  }
}
void Sweep_kShortRow(int64_t at) {
  for (const int64_t n : {1, 2, 3, 4, 5}) {
    for (const int64_t rows : {int64_t{3}, at / n - 1, at / n + 1}) SweepRepeated({41, rows, n});
  }
  for (const int64_t n : {at - 1, at, at + 1}) SweepRepeated({3, 2, n});
  SweepRepeated({kTile / 6 + 5, 3, 2});
  for (const int64_t inner : {2, 3, 4, 5}) {
    for (const int64_t outer : {int64_t{1}, at - 1, at, at + 1, 2 * at + 3}) {
      for (const int64_t n : {2, 16, 17}) SweepReduce(outer, n, inner);
    }
  }
}
void Sweep_kSoftmaxColumns(int64_t at) {
  for (const int64_t inner : {at - 1, at, at + 1, 2 * at + 3}) {
    for (const int64_t n : {1, 2, 7, 130}) SweepSoftmax(2, n, inner);
  }
}
void Sweep_kTogetherRows(int64_t at) {
  for (const int64_t rows : {at - 1, at, at + 1, 2 * at + 1}) {
    SweepTogether(rows, 3, 5);
    SweepTogether(rows, 150, 107);
  }
}
void Sweep_kPoolRoom(int64_t at) {
  for (const int64_t stride : {1, 2, 3, 7}) {
    for (int64_t width = 3; width < 75; ++width) SweepPool(2, 6, width, 3, stride);
    SweepPool(2, 135, 37, 129, stride);  // many rows upon another
    for (const int64_t width : {at - 2, at - 1, at, at + 1, at + 2, at + 17, 2 * at + 5}) {
      SweepPool(1, 4, width, 2, stride);
    }
  }
}
void Sweep_kTransposeColumns(int64_t at) {
  for (int64_t n = at - 1; n <= at + 5; ++n) {
    for (const int64_t rows : {3, 4, 5, 17, 33, 50}) {
      SweepTranspose(rows, n);
      SweepTranspose(n, rows);
      SweepTranspose(rows, 2 * n);
    }
  }
}
void Sweep_kDirectFloats(int64_t at) {
  const int64_t width = 120, least = at / (2 * (width + 2)) - 4;  // a border of one
  int64_t one = 0, more = 0;
  for (int64_t height = least - 2; height < least + 8; ++height) {
    (SweepDepthwise(3, height, width) > 1 ? more : one) += 1;
  }
  EXPECT_GT(one, 0) << "no size on the near side of kDirectFloats";
  EXPECT_GT(more, 0) << "no size on the far side of kDirectFloats";
  for (const int64_t w : {1, 3, 15, 16, 17, 63, 64, 65, 70}) SweepDepthwise(2, 9, w);
}
void Sweep_kGatheredFloats(int64_t at) {
  int64_t one = 0, more = 0;
  const int64_t width = 61, least = at / (8 * 9 * width);  // lines of a piece of eight channels
  for (int64_t height = least - 2; height < least + 4; ++height) {
    (SweepConv({8, 5, height, width, 3, 1, 1}) > 1 ? more : one) += 1;
  }
  EXPECT_GT(one, 0) << "no size on the near side of kGatheredFloats";
  EXPECT_GT(more, 0) << "no size on the far side of kGatheredFloats";
  for (int64_t out = 1; out <= 33; ++out) SweepConv({3, out, 9, 11, 3, 1, 1});
  for (int64_t w = 1; w <= 40; ++w) SweepConv({5, 7, 6, w, 3, 1, 1});
  for (int64_t in = 1; in <= 20; ++in) SweepConv({in, 6, 10, 9, 2, 2, 0});
}
void Sweep_kGatheredColumns(int64_t at) {
  for (const int64_t w : {at / 2 - 1, at / 2, at / 2 + 1, at - 1, at, at + 1}) {
    for (const int64_t in : {170, 171, 172})
      SweepConv({in, 7, 6, w, 3, 1, 1});  // times 576: 98,304
    SweepConv({460, 5, 4, w, 3, 1, 1});
  }
}
void Sweep_kThinRows(int64_t) {
  // Rows are swept by every product: here tails of columns and depth, below all other sizes.
  for (int64_t n = 1; n <= 70; ++n) SweepProduct(n, 33);
  for (const int64_t n : {95, 96, 97, 127, 128, 129, 130, 255, 256, 257}) SweepProduct(n, 18);
  for (int64_t k = 0; k <= 35; ++k) SweepProduct(37, k);
}
void Sweep_kDepthBlock(int64_t at) {
  for (const int64_t k : {at - 1, at, at + 1, at * 3 / 2 - 1, at * 3 / 2, at * 3 / 2 + 1, 2 * at,
                          2 * at + 1, at * 5 / 2 - 1, at * 5 / 2}) {
    SweepProduct(19, k);
    SweepProduct(75, k);
  }
}
void Sweep_kStreamFloats(int64_t at) {
  for (const int64_t n : {256, 263, 600, 769, 1024}) SweepAround(at, n);
  for (const int64_t m : {1, 5, 7, 8, 13, 15, 29, 33}) {
    for (const int64_t k : {255, 256, 257}) SweepProductLoop(1, m, at / 256, k);
    SweepProductLoop(1, m, 2 * at / 256 + 64, 257);  // streams in each of two threads
  }
  for (const int64_t batch : {1, 2, 3, 5, 7, 9}) {
    for (const int64_t hidden : {255, 256, 257}) SweepLstm(batch, 33, hidden);
  }
}
void Sweep_kRecurrentFloats(int64_t at) {
  ASSERT_EQ(4 * 128 * 128, at);
  for (const int64_t batch : {1, 2, 5, 7, 12, 13, 25}) {
    for (const int64_t hidden : {127, 128, 129}) SweepLstm(batch, 17, hidden);
  }
}
void Sweep_kStreamLeastColumns(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1}) SweepAround(kStreamFloats, n);
  for (int64_t k = 0; k < 8; ++k) SweepProduct(at, kStreamFloats / at + k);  // tails of eight rows
}
void Sweep_kStreamColumns(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1, at + 100, 2 * at + 17}) SweepAround(kStreamFloats, n);
}
void Sweep_kInt8Pairs(int64_t at) {
  for (const int64_t k : {2 * at - 1, 2 * at, 2 * at + 1, 2 * at + 2, 4 * at + 3}) {
    for (const int64_t m : {1, 5, 6, 7, 13}) SweepCodes(m, 37, k);
  }
}
void Sweep_kInt8Rows(int64_t at) {
  for (const int64_t m : {at - 1, at, at + 1, at + 5, 2 * at + 1}) SweepCodes(m, 35, 21);
  for (int64_t m = 1; m <= kMostRows; ++m) SweepCodes(m, 9, 7);
  for (int64_t n = 1; n <= 70; ++n) SweepCodes(5, n, 6);
}
void Sweep_kSumRows(int64_t at) {
  for (const int64_t n : {at - 1, at, at + 1, at + 3, 2 * at, 2 * at + 1}) {
    for (const int64_t inner : {2, 3, 5, 15, 16, 17, 31, 33, 70}) SweepReduce(2, n, inner);
  }
  for (int64_t n = 1; n <= 70; ++n) {
    SweepReduce(3, n, 9);
    SweepReduce(3, n, 1);
  }
  for (const int64_t n : {127, 128, 129, 255, 256, 257, 1000, 4097}) SweepReduce(3, n, 1);
}

#define GE_THRESHOLD(name, value) \
  TEST(Thresholds, name) { Sweep_##name(name); }
#include "plugins/cpu/kit/thresholds.def"
#undef GE_THRESHOLD

}  // namespace
}  // namespace ge_engines::cpu::native
