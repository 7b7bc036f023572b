// Products of numbers rounded to bfloat16 by AMX: tiles of sixteen rows by sixteen columns. A
// tile's rows of b are the pairs of a panel. Denormal numbers count as zero, as in panels.cc.
#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/rounded.h"
#include "plugins/cpu/kit/simd/panel_sums.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace tiles {
namespace {

constexpr int64_t kTile = 16;  // rows; columns of sums; pairs of a row of a; rows of pairs of b
constexpr int64_t kTileBytes = 64;
// Below, a tile's time goes for rows that nobody wants: vectors take fewer rows.
constexpr int64_t kLeastRows = 4;

// What LDTILECFG reads.
struct alignas(64) Config {
  uint8_t palette = 1, start = 0, unused[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(Config) == 64);

// Tiles by their numbers: sums of two blocks of rows and two of columns, both blocks of a, both of
// b.
enum : int { kSums = 0, kLeft = 4, kRight = 6 };

// The compiler knows of no tile, so each of these counts as reading and writing all memory.
GE_INLINE void Configure(const Config& c) { asm volatile("ldtilecfg %0" ::"m"(c) : "memory"); }
GE_INLINE void Release() { asm volatile("tilerelease" ::: "memory"); }
template <int kT>
GE_INLINE void Clear() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kT) : "memory");
}
template <int kT>
GE_INLINE void Load(const void* from, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(kT) : "memory");
}
template <int kT>
GE_INLINE void Store(void* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(kT) : "memory");
}
// Sums += a * b.
template <int kSum, int kA, int kB>
GE_INLINE void Multiply() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kA), "i"(kB) : "memory");
}

struct Operands {
  const uint16_t* a;
  int64_t lda;  // numbers from a row to the next
  const uint16_t* b[2];
  const float* bias;  // of the first column, or nullptr
  float* y;
  int64_t ldy, n, pairs;
  int64_t rows[2];
};

Config ConfigOf(const int64_t (&rows)[2]) {
  Config c;
  for (int r = 0; r < 2; ++r) {
    for (const int t : {kSums + 2 * r, kSums + 2 * r + 1, kLeft + r}) {
      c.rows[t] = static_cast<uint8_t>(rows[r]);
      c.row_bytes[t] = rows[r] > 0 ? kTileBytes : 0;
    }
    c.rows[kRight + r] = kTile;
    c.row_bytes[kRight + r] = kTileBytes;
  }
  return c;
}

template <int kRowTiles, int kColumnTiles>
GE_INLINE void Step(const void* a0, const void* a1, int64_t a_stride, const void* b0,
                    const void* b1, int64_t b_stride) {
  Load<kLeft>(a0, a_stride);
  Load<kRight>(b0, b_stride);
  Multiply<kSums, kLeft, kRight>();
  if constexpr (kColumnTiles == 2) {
    Load<kRight + 1>(b1, b_stride);
    Multiply<kSums + 1, kLeft, kRight + 1>();
  }
  if constexpr (kRowTiles == 2) {
    Load<kLeft + 1>(a1, a_stride);
    Multiply<kSums + 2, kLeft + 1, kRight>();
    if constexpr (kColumnTiles == 2) Multiply<kSums + 3, kLeft + 1, kRight + 1>();
  }
}

// The pairs behind the last whole tile: copied, with zeros behind them.
template <int kRowTiles, int kColumnTiles>
void RestOfPairs(const Operands& q, int64_t from) {
  alignas(64) uint16_t a[2][kTile][2 * kTile] = {}, b[2][kTile][2 * kTile] = {};
  const auto left = static_cast<size_t>(q.pairs - from);
  for (int t = 0; t < kRowTiles; ++t) {
    for (int64_t r = 0; r < q.rows[t]; ++r) {
      std::memcpy(a[t][r], q.a + (t * kTile + r) * q.lda + 2 * from, 4 * left);
    }
  }
  for (int t = 0; t < kColumnTiles; ++t) {
    for (size_t r = 0; r < left; ++r) {
      const int64_t row = (from + static_cast<int64_t>(r)) * kColumns * 2;
      std::memcpy(b[t][r], q.b[t] + row, kTileBytes);
    }
  }
  Step<kRowTiles, kColumnTiles>(a[0], a[1], kTileBytes, b[0], b[1], kTileBytes);
}

// One tile of sums to y, with its bias, as many columns as there are.
template <int kT>
void Finish(const Operands& q, int64_t rows, int64_t first_row, int64_t column) {
  alignas(64) float sums[kTile][kTile];
  Store<kT>(sums, kTileBytes);
  const Full d;
  const int64_t n = std::min(q.n - column, kTile);
  if (n <= 0) return;
  const auto zero = hn::Zero(d);
  const auto bias = q.bias == nullptr ? zero : LoadFirst(d, q.bias + column, n, zero);
  for (int64_t r = 0; r < rows; ++r) {
    float* const y = q.y + (first_row + r) * q.ldy + column;
    const auto sum = hn::Add(hn::Load(d, sums[r]), bias);
    if (n == kTile) {
      hn::StoreU(sum, d, y);
    } else {
      StoreFirst(d, sum, y, n);
    }
  }
}

template <int kRowTiles, int kColumnTiles>
void Block(const Operands& q) {
  Clear<kSums>();
  if constexpr (kColumnTiles == 2) Clear<kSums + 1>();
  if constexpr (kRowTiles == 2) Clear<kSums + 2>();
  if constexpr (kRowTiles * kColumnTiles == 4) Clear<kSums + 3>();
  constexpr int64_t kRow = kColumns * 2;  // numbers
  const uint16_t* const a1 = q.a + kTile * q.lda;
  int64_t i = 0;
  for (; i + kTile <= q.pairs; i += kTile) {
    Step<kRowTiles, kColumnTiles>(q.a + 2 * i, a1 + 2 * i, 2 * q.lda, q.b[0] + i * kRow,
                                  q.b[1] + i * kRow, 2 * kRow);
  }
  if (i < q.pairs) RestOfPairs<kRowTiles, kColumnTiles>(q, i);
  Finish<kSums>(q, q.rows[0], 0, 0);
  if constexpr (kColumnTiles == 2) Finish<kSums + 1>(q, q.rows[0], 0, kTile);
  if constexpr (kRowTiles == 2) Finish<kSums + 2>(q, q.rows[1], kTile, 0);
  if constexpr (kRowTiles * kColumnTiles == 4) Finish<kSums + 3>(q, q.rows[1], kTile, kTile);
}

// All columns of one or two blocks of rows, two tiles of columns at a time.
template <int kRowTiles>
void AllColumns(Operands q, const uint16_t* b, int64_t panel) {
  constexpr int64_t kTilesOfPanel = kColumns / kTile;
  const int64_t tiles = (q.n + kTile - 1) / kTile;
  const auto at = [&](int64_t t) {
    return b + t / kTilesOfPanel * panel + t % kTilesOfPanel * (2 * kTile);
  };
  for (int64_t t = 0; t < tiles; t += 2) {
    q.b[0] = at(t);
    q.b[1] = at(std::min(t + 1, tiles - 1));
    if (t + 1 < tiles) {
      Block<kRowTiles, 2>(q);
    } else {
      Block<kRowTiles, 1>(q);
    }
    q.n -= 2 * kTile;
    q.y += 2 * kTile;
    if (q.bias != nullptr) q.bias += 2 * kTile;
  }
}

void Product(const uint16_t* a, int64_t lda, const uint16_t* b, int64_t panel, const float* bias,
             float* y, int64_t ldy, int64_t m, int64_t n, int64_t pairs) {
  if (m < kLeastRows) {
    return kRounded_avx512.product(a, lda, b, panel, bias, y, ldy, m, n, pairs);
  }
  Operands q{a, lda, {}, bias, y, ldy, n, pairs, {0, 0}};
  for (int64_t r = 0; r < m; r += 2 * kTile) {
    const int64_t before[2] = {q.rows[0], q.rows[1]};
    q.rows[0] = std::min(m - r, kTile);
    q.rows[1] = std::clamp<int64_t>(m - r - kTile, 0, kTile);
    if (q.rows[0] != before[0] || q.rows[1] != before[1]) Configure(ConfigOf(q.rows));
    q.a = a + r * lda;
    q.y = y + r * ldy;
    q.rows[1] > 0 ? AllColumns<2>(q, b, panel) : AllColumns<1>(q, b, panel);
  }
  Release();
}

}  // namespace
}  // namespace tiles
}  // namespace GE_SIMD_ISA

Rounded::Product* const kTileProduct = GE_SIMD_ISA::tiles::Product;

}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
