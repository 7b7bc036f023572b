// Products with few rows: the speed of streaming the weights bounds them.
#include "hwy/cache_control.h"
#include "plugins/cpu/kit/simd/vector.h"
#include "plugins/cpu/kit/thresholds.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

// Vectors of a row of b at once: with m rows that many sums stay in registers, and at least 8 of
// them hide the latency of 4 cycles at two a cycle.
constexpr int ColumnVectors(int m) {
  if (m == 1) return 8;
  if (m <= 3) return kManyRegisters ? 8 : 4;
  if (m == 4) return kManyRegisters ? 6 : 3;
  if (m <= 6) return kManyRegisters ? 4 : 2;
  return kManyRegisters ? 3 : 1;
}
// In fours, where registers are enough: so many are summed up together.
constexpr int DotRowsAtOnce(int m) {
  if (m == 1) return 8;
  if (m == 2) return kManyRegisters ? 8 : 4;
  if (m == 3) return 4;
  return kManyRegisters ? 4 : m <= 6 ? 2 : 1;
}

template <int kRows>
struct Rows {
  const float* a[kRows];
  float* y[kRows];
};

// Calls f with pointers to `m` rows, each of them once: a kernel may add to y more than once.
template <int kRows = kThinRows, class F>
GE_INLINE void CallRows(const float* a, int64_t lda, float* y, int64_t ldy, int64_t m, F f) {
  if (m == kRows) {
    Rows<kRows> rows;
    for (int64_t i = 0; i < kRows; ++i) {
      rows.a[i] = a + i * lda;
      rows.y[i] = y + i * ldy;
    }
    f(rows);
  } else if constexpr (kRows > 1) {
    CallRows<kRows - 1>(a, lda, y, ldy, m, f);
  }
}
template <int kMost = kThinRows, class F>
GE_INLINE void WithRows(const float* a, int64_t lda, float* y, int64_t ldy, int64_t m, F f) {
  for (int64_t i = 0; i < m; i += kMost, a += kMost * lda, y += kMost * ldy) {
    CallRows<kMost>(a, lda, y, ldy, m - i < kMost ? m - i : kMost, f);
  }
}

// sum[r][v] += a[r][i] * (vector v behind row(i)) for i in [i, end).
template <int kVectors, int kRows, class D, class Row>
GE_INLINE void AddRows(D d, const Rows<kRows>& rows, int64_t i, int64_t end, Row row,
                       hn::Vec<D> (&sum)[kRows][kVectors]) {
  constexpr int64_t kN = kLanesOf<D>;
  for (; i < end; ++i) {
    const float* p = row(i);
    hn::Vec<D> w[kVectors];
    for (int v = 0; v < kVectors; ++v) w[v] = hn::LoadU(d, p + v * kN);
    for (int r = 0; r < kRows; ++r) {
      const auto x = hn::Set(d, rows.a[r][i]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(x, w[v], sum[r][v]);
    }
  }
}
template <int kVectors, int kRows, class D>
GE_INLINE void StoreSums(D d, const Rows<kRows>& rows, int64_t j,
                         const hn::Vec<D> (&sum)[kRows][kVectors]) {
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sum[r][v], d, rows.y[r] + j + v * kLanesOf<D>);
    }
  }
}

// kVectors vectors of columns from column j on, rows [i, end) of b. Rows are far apart, so that the
// hardware sees no stream: each is asked for kAhead rows early.
template <int kVectors, int kRows, class D>
GE_INLINE void Columns(D d, const Rows<kRows>& rows, const float* b, int64_t ldb, int64_t j,
                       int64_t i, int64_t end) {
  constexpr int64_t kN = kLanesOf<D>;
  constexpr int64_t kAhead = 8;
  hn::Vec<D> sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = i == 0 ? hn::Zero(d) : hn::LoadU(d, rows.y[r] + j + v * kN);
    }
  }
  auto row = [=](int64_t k) GE_LAMBDA {
    const float* p = b + k * ldb + j;
    if constexpr (kVectors * kN >= 16) {
      const float* ahead = k + kAhead < end ? p + kAhead * ldb : p;
      for (int64_t v = 0; v < kVectors * kN; v += 16) hwy::Prefetch(ahead + v);
    }
    return p;
  };
  AddRows(d, rows, i, end, row, sum);
  StoreSums(d, rows, j, sum);
}
// All columns, for blocks of rows so small that lines which the next columns share with these stay
// in the first cache, and the block in the second.
template <int kRows>
GE_INLINE void Blocks(const Rows<kRows>& rows, const float* b, int64_t ldb, int64_t n, int64_t k) {
  constexpr int kVectors = ColumnVectors(kRows);
  const Full d;
  int64_t i = 0;
  do {
    const int64_t end = k - i < kDepthBlock * 3 / 2 ? k : i + kDepthBlock;
    int64_t j = 0;
    for (; j + kVectors * kMaxLanes <= n; j += kVectors * kMaxLanes) {
      Columns<kVectors>(d, rows, b, ldb, j, i, end);
    }
    for (; j + kMaxLanes <= n; j += kMaxLanes) Columns<1>(d, rows, b, ldb, j, i, end);
    Rest<kMaxLanes / 2>(
        j, n, [=](auto part, int64_t at) GE_LAMBDA { Columns<1>(part, rows, b, ldb, at, i, end); });
    i = end;
  } while (i < k);
}

// Large weights: eight rows of b at a time, read in order; the row of y stays in the first cache.
template <int kStreams, int kRows>
GE_INLINE void Stream(const Rows<kRows>& rows, const float* b, int64_t ldb, int64_t j, int64_t n,
                      int64_t i, bool first) {
  auto piece = [&](auto d, int64_t c) GE_LAMBDA {
    const float* p = b + i * ldb + j + c;
    for (int r = 0; r < kRows; ++r) {
      float* y = rows.y[r] + j + c;
      auto sum = first ? hn::Zero(d) : hn::LoadU(d, y);
      for (int s = 0; s < kStreams; ++s) {
        sum = hn::MulAdd(hn::Set(d, rows.a[r][i + s]), hn::LoadU(d, p + s * ldb), sum);
      }
      hn::StoreU(sum, d, y);
    }
  };
  ForEach(n, piece);
}
template <int kRows>
GE_INLINE void Streams(const Rows<kRows>& rows, const float* b, int64_t ldb, int64_t n, int64_t k) {
  for (int64_t j = 0; j < n; j += kStreamColumns) {
    const int64_t some = n - j < kStreamColumns ? n - j : kStreamColumns;
    int64_t i = 0;
    for (; i + 8 <= k; i += 8) Stream<8>(rows, b, ldb, j, some, i, i == 0);
    for (; i < k; ++i) Stream<1>(rows, b, ldb, j, some, i, i == 0);
  }
}

}  // namespace

void ThinProduct(const float* left, int64_t lda, const float* right, int64_t ldb, float* y,
                 int64_t ldy, int64_t m, int64_t n, int64_t k) {
  WithRows(left, lda, y, ldy, m, [=]<int kRows>(const Rows<kRows>& rows) GE_LAMBDA {
    if constexpr (kRows <= 2 || !kManyRegisters) {
      if (n * k >= kStreamFloats && n >= kStreamLeastColumns)
        return Streams(rows, right, ldb, n, k);
    }
    Blocks(rows, right, ldb, n, k);
  });
}

namespace {

// The sum of all blocks of 128 bits.
template <class D>
GE_INLINE hn::Vec128<float> SumOfBlocks(D /*d*/, hn::Vec<D> v) {
  if constexpr (kLanesOf<D> == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of the lanes of four vectors: 13 instructions of 16 lanes, where one after the other
// they are 40.
GE_INLINE hn::Vec128<float> SumsOfLanes(const hn::Vec<Full> (&v)[4]) {
  const Full d;
  const hn::Repartition<double, Full> wide;
  const auto pairs = [=](hn::Vec<Full> a, hn::Vec<Full> b) GE_LAMBDA {
    return hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  };
  const auto ab = pairs(v[0], v[1]), ce = pairs(v[2], v[3]);
  return SumOfBlocks(d, hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, ab, ce)),
                                hn::BitCast(d, hn::InterleaveUpper(wide, ab, ce))));
}

// y[q] = the sum of the lanes of v[q].
template <int kCount>
GE_INLINE void StoreSumsOfLanes(const hn::Vec<Full> (&v)[kCount], float* y) {
  const Full d;
  const hn::Simd<float, 4, 0> four;
  int q = 0;
  for (; q + 3 < kCount; q += 4) {
    hn::StoreU(SumsOfLanes({v[q], v[q + 1], v[q + 2], v[q + 3]}), four, y + q);
  }
  for (; q < kCount; ++q) y[q] = hn::GetLane(hn::SumOfLanes(d, v[q]));
}

template <int kWeights, int kRows>
GE_INLINE void Dots(const Rows<kRows>& rows, const float* w, int64_t ldw, int64_t at, int64_t k) {
  const Full d;
  hn::Vec<Full> sum[kRows][kWeights];
  for (auto& row : sum) {
    for (auto& s : row) s = hn::Zero(d);
  }
  auto add = [&](const auto& load, int64_t i) GE_LAMBDA {
    hn::Vec<Full> x[kRows];
    for (int r = 0; r < kRows; ++r) x[r] = load(rows.a[r] + i);
    for (int q = 0; q < kWeights; ++q) {
      const auto v = load(w + (at + q) * ldw + i);
      for (int r = 0; r < kRows; ++r) sum[r][q] = hn::MulAdd(x[r], v, sum[r][q]);
    }
  };
  int64_t i = 0;
  for (; i + kMaxLanes <= k; i += kMaxLanes) {
    add([=](const float* p) GE_LAMBDA { return hn::LoadU(d, p); }, i);
  }
  if (i < k) {
    add([=](const float* p) GE_LAMBDA { return LoadFirst(d, p, k - i, hn::Zero(d)); }, i);
  }
  for (int r = 0; r < kRows; ++r) StoreSumsOfLanes(sum[r], rows.y[r] + at);
}

// The same; more than six rows of four weights go in two parts, while the weights are near.
template <int kWeights, int kRows>
GE_INLINE void DotBlock(const Rows<kRows>& rows, const float* w, int64_t ldw, int64_t at,
                        int64_t k) {
  if constexpr (kRows <= 6 || !kManyRegisters) {
    Dots<kWeights>(rows, w, ldw, at, k);
  } else {
    constexpr int kFirst = 4;
    Rows<kFirst> first;
    Rows<kRows - kFirst> rest;
    for (int i = 0; i < kFirst; ++i) {
      first.a[i] = rows.a[i];
      first.y[i] = rows.y[i];
    }
    for (int i = kFirst; i < kRows; ++i) {
      rest.a[i - kFirst] = rows.a[i];
      rest.y[i - kFirst] = rows.y[i];
    }
    Dots<kWeights>(first, w, ldw, at, k);
    Dots<kWeights>(rest, w, ldw, at, k);
  }
}

}  // namespace

namespace {

// Rows of a block of sums: with few registers six rows of two vectors load less than eight of one.
constexpr int kShiftedRows = kManyRegisters ? 8 : 6;
// As ColumnVectors; but 3 rows of 4 vectors are more than 16 registers with the row's vectors and a
// weight, as are 4 of 3 where products need one of their own (SSE). 64 channels of 112 x 112 to 3:
// 930 and 540 us with AVX2, 1,700 and 1,170 with SSE4.2, 368 and 356 with AVX-512.
constexpr int ShiftedVectors(int m) {
  if (m == 3) return kManyRegisters ? 6 : 3;
  return m == 4 && kMaxLanes == 4 ? 2 : ColumnVectors(m);
}

// Vectors [j, n) of columns, kVectors at a time, then fewer.
template <int kVectors, int kRows>
GE_INLINE void ShiftedColumns(const Rows<kRows>& rows, const float* x, const int64_t* at,
                              const float* bias, int64_t taps, int64_t j, int64_t n) {
  const Full d;
  for (; j + (kVectors - 1) * kMaxLanes < n; j += kVectors * kMaxLanes) {
    hn::Vec<Full> sum[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
      for (auto& s : sum[r]) s = hn::Set(d, bias[r]);
    }
    AddRows(
        d, rows, 0, taps, [=](int64_t k) GE_LAMBDA { return x + at[k] + j; }, sum);
    StoreSums(d, rows, j, sum);
  }
  if constexpr (kVectors > 1) {
    constexpr int kFewer = kVectors > 4 ? kVectors / 2 : kVectors - 1;
    ShiftedColumns<kFewer>(rows, x, at, bias, taps, j, n);
  }
}

}  // namespace

void ShiftedProduct(const float* w, int64_t ldw, const float* x, const int64_t* at,
                    const float* bias, float* y, int64_t ldy, int64_t m, int64_t n, int64_t taps) {
  WithRows<kShiftedRows>(w, ldw, y, ldy, m, [&]<int kRows>(const Rows<kRows>& rows) GE_LAMBDA {
    ShiftedColumns<ShiftedVectors(kRows)>(rows, x, at, bias, taps, 0, n);
    bias += kRows;
  });
}

void DotRows(const float* x, int64_t ldx, const float* w, int64_t ldw, float* y, int64_t ldy,
             int64_t m, int64_t rows, int64_t k) {
  WithRows(x, ldx, y, ldy, m, [=]<int kRows>(const Rows<kRows>& part) GE_LAMBDA {
    constexpr int kWeights = DotRowsAtOnce(kRows);
    int64_t r = 0;
    for (; r + kWeights <= rows; r += kWeights) DotBlock<kWeights>(part, w, ldw, r, k);
    for (; r < rows; ++r) DotBlock<1>(part, w, ldw, r, k);
  });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
