// The loop over panels, shared by products of float32 and of rounded numbers. A panel holds some
// columns of the constant matrix, one row behind the other. Only for the sources of this folder;
// each is compiled for one instruction set. `Terms` brings the multiplication:
//   Element, kDepth      what a and b hold, and how many rows of b one step sums at once
//   Wide                 one vector of them
//   Load(p), Spread(p)   kDepth elements of each column; those of one row of a in every lane
//   Add(x, w, sum)       sum + the products
#pragma once

#include "hwy/cache_control.h"
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
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

// Start and target of the sums of one block of rows.
template <class Terms>
struct Block {
  const typename Terms::Element* a;
  int64_t lda;
  const typename Terms::Element* b;  // row 0 of the first panel
  int64_t panel;                     // elements from a panel to the next
  const float* bias;                 // of the first column, or nullptr
  float* y;
  int64_t ldy, n, steps;  // n: columns from the first on; steps of kDepth rows
  bool last;              // of several blocks: meanwhile the panel behind is brought along
  bool add = false;       // to what y holds, which stands for a bias of its own
};

// Products of float32.
struct Floats {
  using Element = float;
  using Wide = hn::Vec<Full>;
  static constexpr int64_t kDepth = 1;
  GE_INLINE Wide Load(const float* p) { return hn::LoadU(Full(), p); }
  GE_INLINE Wide Spread(const float* p) { return hn::Set(Full(), *p); }
  GE_INLINE Wide Add(Wide x, Wide wide, Wide sum) { return hn::MulAdd(x, wide, sum); }
};

template <class Terms, int kRows, int kVectors>
GE_INLINE void StoreWhole(const Block<Terms>& block, const hn::Vec<Full> (&sum)[kRows][kVectors]) {
  const Full d;
  for (int v = 0; v < kVectors; ++v) {
    const int64_t j = v * kMaxLanes;
    const auto bias = block.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, block.bias + j);
    for (int r = 0; r < kRows; ++r) {
      float* const y = block.y + r * block.ldy + j;
      hn::StoreU(hn::Add(sum[r][v], block.add ? hn::LoadU(d, y) : bias), d, y);
    }
  }
}
// For y with fewer columns than the vectors.
template <class Terms, int kRows, int kVectors>
GE_INLINE void StoreTail(const Block<Terms>& block, const hn::Vec<Full> (&sum)[kRows][kVectors]) {
  const Full d;
  for (int v = 0; v < kVectors; ++v) {
    const int64_t j = v * kMaxLanes, left = block.n - j < kMaxLanes ? block.n - j : kMaxLanes;
    if (left <= 0) return;
    const auto zero = hn::Zero(d);
    const auto bias = block.bias == nullptr ? zero : LoadFirst(d, block.bias + j, left, zero);
    for (int r = 0; r < kRows; ++r) {
      float* const y = block.y + r * block.ldy + j;
      const auto more = block.add ? LoadFirst(d, y, left, zero) : bias;
      StoreFirst(d, hn::Add(sum[r][v], more), y, left);
    }
  }
}

// The first kVectors vectors of columns of each of kPanels panels.
template <int kRows, int kPanels, int kVectors, class Terms>
GE_INLINE void Sums(const Block<Terms>& block) {
  using Element = typename Terms::Element;
  const Full d;
  constexpr int64_t kRow = kColumns * Terms::kDepth, kVector = kMaxLanes * Terms::kDepth;
  // Distance of the prefetch, in elements.
  const int64_t ahead = block.last ? block.panel : 16 * kRow;
  hn::Vec<Full> sum[kRows][kPanels * kVectors];
  for (auto& row : sum) {
    for (auto& s : row) s = hn::Zero(d);
  }
  for (int64_t i = 0; i < block.steps; ++i) {
    typename Terms::Wide w[kPanels * kVectors];
    for (int p = 0; p < kPanels; ++p) {
      const Element* at = block.b + p * block.panel + i * kRow;
      for (int v = 0; v < kVectors; ++v) w[p * kVectors + v] = Terms::Load(at + v * kVector);
      constexpr auto kLine = static_cast<int64_t>(64 / sizeof(Element));
      for (int64_t line = 0; line < kVectors * kVector; line += kLine) {
        hwy::Prefetch(at + ahead + line);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      const auto x = Terms::Spread(block.a + r * block.lda + i * Terms::kDepth);
      for (int v = 0; v < kPanels * kVectors; ++v) sum[r][v] = Terms::Add(x, w[v], sum[r][v]);
    }
  }
  if (block.n >= kPanels * kVectors * kMaxLanes) {
    StoreWhole(block, sum);
  } else {
    StoreTail(block, sum);
  }
}

// One panel, or as many vectors of it as have columns.
template <int kRows, int kVectors = kPanelVectors, class Terms>
GE_INLINE void OnePanel(const Block<Terms>& block) {
  if constexpr (kVectors > 1) {
    if (block.n <= (kVectors - 1) * kMaxLanes) return OnePanel<kRows, kVectors - 1>(block);
  }
  Sums<kRows, 1, kVectors>(block);
}

// All columns of kRows rows.
template <int kRows, class Terms>
GE_INLINE void AllColumns(Block<Terms> block) {
  constexpr int kPanels = PanelsAtOnce(kRows);
  auto advance = [&block](int panels) GE_LAMBDA {
    block.b += panels * block.panel;
    block.y += panels * kColumns;
    block.n -= panels * kColumns;
    if (block.bias != nullptr) block.bias += panels * kColumns;
  };
  if constexpr (kPanels > 1) {
    for (; block.n > (kPanels - 1) * kColumns; advance(kPanels)) {
      Sums<kRows, kPanels, kPanelVectors>(block);
    }
  }
  for (; block.n > 0; advance(1)) OnePanel<kRows>(block);
}

template <int kRows = kMostRows, class Terms>
GE_INLINE void CallRows(int64_t rows, const Block<Terms>& block) {
  if (rows == kRows) {
    AllColumns<kRows>(block);
  } else if constexpr (kRows > 1) {
    CallRows<kRows - 1>(rows, block);
  }
}

// The whole product: m rows, n columns, the depth in steps.
template <class Terms>
GE_INLINE void SumPanels(const Block<Terms>& all, int64_t m) {
  // Blocks of rows as equal as can be: a last block of one row would read the panels once more.
  const int64_t blocks = (m + kMostRows - 1) / kMostRows;
  for (int64_t t = 0, from = 0; t < blocks; ++t) {
    const int64_t end = (t + 1) * m / blocks;
    Block<Terms> q = all;
    q.a += from * q.lda;
    q.y += from * q.ldy;
    q.last = blocks > 1 && t + 1 == blocks;
    CallRows(end - from, q);
    from = end;
  }
}

}  // namespace
}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
