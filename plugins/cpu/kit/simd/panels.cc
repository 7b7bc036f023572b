// Products with a constant matrix that lies in panels, rows of a panel behind each other: one form
// of the weights for any number of rows.
#include "hwy/cache_control.h"
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_cpu {
namespace GE_SIMD_ISA {
namespace {

// A panel's row and the rows of y at once: their sums fill the registers. Many rows of a would
// share sets of the first cache where k is a power of two: 8 rows by 3 vectors do 102 to 110
// operations a ns where 12 by 2 do 88 to 108 (48 and 144 rows, 768 x 3072 and the like).
constexpr int kPanelVectors = kManyRegisters ? 3 : 2;
constexpr int64_t kColumns = kPanelVectors * kMaxLanes;
constexpr int kMostRows = kManyRegisters ? 8 : 6;
// Panels side by side: with few rows, at least eight sums hide the latency of a multiply-add.
constexpr int PanelsAtOnce(int rows) {
  if (rows == 1) return kManyRegisters ? 3 : 4;
  if (rows <= 3) return 2;
  return kManyRegisters && rows == 4 ? 2 : 1;
}

// Where the sums of one block of rows begin and go.
struct Block {
  const float* a;
  int64_t lda;
  const float* b;     // row 0 of the first panel
  int64_t panel;      // floats from a panel to the next
  const float* bias;  // of the first column, or nullptr
  float* y;
  int64_t ldy, n, k;  // n: columns from the first on
  bool last;          // of several blocks: meanwhile the panel behind is brought along
};

template <int kRows, int kVectors>
GE_INLINE void StoreWhole(const Block& q, const hn::Vec<Full> (&sum)[kRows][kVectors]) {
  const Full d;
  for (int v = 0; v < kVectors; ++v) {
    const int64_t j = v * kMaxLanes;
    const auto bias = q.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, q.bias + j);
    for (int r = 0; r < kRows; ++r) {
      hn::StoreU(hn::Add(sum[r][v], bias), d, q.y + r * q.ldy + j);
    }
  }
}
// Where y has fewer columns than the vectors.
template <int kRows, int kVectors>
GE_INLINE void StoreTail(const Block& q, const hn::Vec<Full> (&sum)[kRows][kVectors]) {
  const Full d;
  for (int v = 0; v < kVectors; ++v) {
    const int64_t j = v * kMaxLanes, left = q.n - j < kMaxLanes ? q.n - j : kMaxLanes;
    if (left <= 0) return;
    const auto zero = hn::Zero(d);
    const auto bias = q.bias == nullptr ? zero : LoadFirst(d, q.bias + j, left, zero);
    for (int r = 0; r < kRows; ++r) {
      StoreFirst(d, hn::Add(sum[r][v], bias), q.y + r * q.ldy + j, left);
    }
  }
}

// The first kVectors vectors of columns of each of kPanels panels.
template <int kRows, int kPanels, int kVectors>
GE_INLINE void Sums(const Block& q) {
  const Full d;
  // Floats in front of those that are read, asked for early.
  const int64_t ahead = q.last ? q.panel : 16 * kColumns;
  hn::Vec<Full> sum[kRows][kPanels * kVectors];
  for (auto& row : sum) {
    for (auto& s : row) s = hn::Zero(d);
  }
  for (int64_t i = 0; i < q.k; ++i) {
    hn::Vec<Full> w[kPanels * kVectors];
    for (int p = 0; p < kPanels; ++p) {
      const float* at = q.b + p * q.panel + i * kColumns;
      for (int v = 0; v < kVectors; ++v) w[p * kVectors + v] = hn::LoadU(d, at + v * kMaxLanes);
      for (int64_t line = 0; line < kVectors * kMaxLanes; line += 16) {
        hwy::Prefetch(at + ahead + line);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      const auto x = hn::Set(d, q.a[r * q.lda + i]);
      for (int v = 0; v < kPanels * kVectors; ++v) sum[r][v] = hn::MulAdd(x, w[v], sum[r][v]);
    }
  }
  if (q.n >= kPanels * kVectors * kMaxLanes) {
    StoreWhole(q, sum);
  } else {
    StoreTail(q, sum);
  }
}

// One panel, or as many vectors of it as have columns.
template <int kRows, int kVectors = kPanelVectors>
GE_INLINE void OnePanel(const Block& q) {
  if constexpr (kVectors > 1) {
    if (q.n <= (kVectors - 1) * kMaxLanes) return OnePanel<kRows, kVectors - 1>(q);
  }
  Sums<kRows, 1, kVectors>(q);
}

// All columns of kRows rows.
template <int kRows>
GE_INLINE void AllColumns(Block q) {
  constexpr int kPanels = PanelsAtOnce(kRows);
  auto advance = [&q](int panels) GE_LAMBDA {
    q.b += panels * q.panel;
    q.y += panels * kColumns;
    q.n -= panels * kColumns;
    if (q.bias != nullptr) q.bias += panels * kColumns;
  };
  if constexpr (kPanels > 1) {
    for (; q.n > (kPanels - 1) * kColumns; advance(kPanels)) {
      Sums<kRows, kPanels, kPanelVectors>(q);
    }
  }
  for (; q.n > 0; advance(1)) OnePanel<kRows>(q);
}

template <int kRows = kMostRows>
GE_INLINE void CallRows(int64_t rows, const Block& q) {
  if (rows == kRows) {
    AllColumns<kRows>(q);
  } else if constexpr (kRows > 1) {
    CallRows<kRows - 1>(rows, q);
  }
}

}  // namespace

int64_t PanelColumns() { return kColumns; }

void PanelProduct(const float* a, int64_t lda, const float* b, int64_t panel, const float* bias,
                  float* y, int64_t ldy, int64_t m, int64_t n, int64_t k) {
  // Blocks of rows as equal as can be: a last block of one row would read the panels once more.
  const int64_t blocks = (m + kMostRows - 1) / kMostRows;
  for (int64_t t = 0, from = 0; t < blocks; ++t) {
    const int64_t end = (t + 1) * m / blocks;
    const bool last = blocks > 1 && t + 1 == blocks;
    CallRows(end - from, {a + from * lda, lda, b, panel, bias, y + from * ldy, ldy, n, k, last});
    from = end;
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_cpu
HWY_AFTER_NAMESPACE();
