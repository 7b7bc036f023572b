#include "plugins/cpu/native/matmul/panels.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plugins/cpu/kit/float_mode.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu::native {

PanelTiles::PanelTiles(const Simd& simd, const PanelPlan& plan, bool bias,
                       std::vector<TilePostOp> post_ops)
    : simd_(simd), p_(plan), bias_(bias), post_ops_(std::move(post_ops)) {}

// In tiles that stay in the second cache.
void PanelTiles::Part(const float* x, int64_t lda, float* const* p, int64_t r, int64_t m,
                      int64_t first, int64_t panels, float* tile) const {
  for (int64_t row = 0; row < m; row += kPanelRows) {
    for (int64_t at = 0; at < panels; at += kPanelsOfTile) {
      Tile({x + row * lda, lda, r + row, std::min(kPanelRows, m - row), first + at,
            std::min(kPanelsOfTile, panels - at), tile},
           p);
    }
  }
}

void PanelTiles::Tile(const Piece& piece, float* const* p) const {
  const int64_t j = piece.first * p_.columns, n = std::min(piece.panels * p_.columns, p_.n - j);
  const bool thin =
      p_.narrow != nullptr || piece.m <= (p_.coded ? simd_.nbits_rows() : kPanelThinRows);
  const int64_t step = thin ? n : p_.columns;
  const float* w = p[2] + piece.first * p_.panel;
  float* y = p[0] + piece.r * p_.n + j;
  for (int64_t c = 0; c < n; c += step, w += p_.panel) {
    const float* bias = bias_ ? p[3] + j + c : nullptr;
    const int64_t some = std::min(step, n - c);
    if (p_.narrow != nullptr) {
      p_.narrow->product({*p_.coded, reinterpret_cast<const uint8_t*>(piece.x), piece.lda * 4,
                          reinterpret_cast<const uint8_t*>(w), p_.panel * 4, p_.columns, bias,
                          y + c, p_.n, piece.m, some, p_.k});
    } else if (p_.coded && thin) {
      simd_.nbits_product(*p_.coded, piece.x, piece.lda, reinterpret_cast<const uint8_t*>(w),
                          p_.panel * 4, bias, y + c, p_.n, piece.m, some, p_.k);
    } else if (p_.coded) {
      Decoded(piece, w, bias, y + c, some);
    } else if (p_.rounded == nullptr) {
      simd_.panel_product(piece.x, piece.lda, w, p_.panel, bias, y + c, p_.n, piece.m, some, p_.k);
    } else {
      p_.rounded->product(reinterpret_cast<const uint16_t*>(piece.x), 2 * piece.lda,
                          reinterpret_cast<const uint16_t*>(w), 2 * p_.panel, bias, y + c, p_.n,
                          piece.m, some, p_.steps);
    }
  }
  FinishTile(simd_, post_ops_, p, 4, y, piece.m, n, p_.n);
}

// One panel of n-bit weights unpacked to floats, for more rows of x than registers serve.
void PanelTiles::Decoded(const Piece& piece, const float* w, const float* bias, float* y,
                         int64_t n) const {
  const int64_t most = p_.tile_rows();
  for (int64_t from = 0; from < p_.k; from += most) {
    const int64_t k = std::min(most, p_.k - from);
    simd_.nbits_unpack(*p_.coded, reinterpret_cast<const uint8_t*>(w) + p_.code_bytes(from), k,
                       piece.tile);
    if (from == 0) {
      simd_.panel_product(piece.x, piece.lda, piece.tile, 0, bias, y, p_.n, piece.m, n, k);
    } else {
      simd_.panel_product_add(piece.x + from, piece.lda, piece.tile, 0, y, p_.n, piece.m, n, k);
    }
  }
}

namespace {

class PanelProducts final : public Loop {
 public:
  PanelProducts(PanelTiles tiles, size_t room) : room_(room), tiles_(std::move(tiles)) {}

  void Run(float* const* p) const override { RunOn(std::max(1, omp_get_max_threads()), p); }

  void RunOn(int most, float* const* p) const {
    const PanelPlan& plan = tiles_.plan();
    const int threads = plan.parallel() ? most : 1;
    const bool other = plan.rounded_floats() > 0;
    if (other) RoundInput(p, threads);
    const float* x = other ? p[room_] : p[1];
    const auto [rows, wide] = plan.PieceOf(threads);
    const int64_t across = CeilDiv(plan.panels, wide), down = CeilDiv(plan.m, rows);
    // Whoever is there takes the next piece: a neighbour on one core holds up no other.
    std::atomic<int64_t> next = 0;
    auto work = [&, rows = rows, wide = wide] {
      const auto thread = static_cast<uint64_t>(omp_get_thread_num());
      float* const tile = plan.decodes() ? p[room_] + thread * plan.tile_floats() : nullptr;
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < across * down;) {
        const int64_t r = i / across * rows, c = i % across * wide;
        tiles_.Part(x + r * plan.row_floats(), plan.row_floats(), p, r, std::min(rows, plan.m - r),
                    c, std::min(wide, plan.panels - c), tile);
      }
    };
    if (threads == 1 || across * down == 1) return work();
    OnThreads(threads, work);
  }

 private:
  // Rows in pairs of numbers, which take the room of a float each, or in records of blocks.
  void RoundInput(float* const* p, int threads) const {
    const PanelPlan& plan = tiles_.plan();
    ForRange(threads > 1 && plan.m * plan.k > kParallel, plan.m, [&](int64_t r) {
      float* const row = p[room_] + r * plan.row_floats();
      if (plan.narrow != nullptr) {
        plan.narrow->narrow(*plan.coded, p[1] + r * plan.k, plan.k,
                            reinterpret_cast<uint8_t*>(row));
        return;
      }
      auto* to = reinterpret_cast<uint16_t*>(row);
      plan.rounded->round(p[1] + r * plan.k, to, plan.k);
      if (plan.k % 2 != 0) to[plan.k] = 0;
    });
  }

  const size_t room_;  // place of the rounded or narrowed input, or of tiles
  const PanelTiles tiles_;
};

}  // namespace

PanelPlan::PanelPlan(const Simd& kernels, int64_t rows, int64_t n_columns, int64_t depth,
                     const Rounded* rounding)
    : simd(&kernels),
      rounded(rounding),
      m(rows),
      n(n_columns),
      k(depth),
      columns(rounded != nullptr ? rounded->columns : simd->panel_columns()),
      panels(CeilDiv(n, columns)),
      steps(rounded != nullptr ? CeilDiv(k, 2) : k),
      panel(columns * steps) {}

PanelPlan::PanelPlan(const Simd& kernels, int64_t rows, int64_t n_columns, int64_t depth,
                     const NBitsForm& form, const NBitKernels* by)
    : PanelPlan(kernels, rows, n_columns, depth) {
  coded = form;
  narrow = by;
  panel = CeilDiv(code_bytes(k), 64) * 16;
}

int64_t PanelPlan::code_bytes(int64_t rows) const {
  return CeilDiv(rows, coded->block) * columns * (4 + coded->zero_bytes) +
         CeilDiv(rows, 32 / coded->bits) * columns * 4;
}

int64_t PanelPlan::row_floats() const {
  return narrow != nullptr ? NBitBytes(*coded, k) / static_cast<int64_t>(sizeof(float)) : steps;
}

int64_t PanelPlan::tile_rows() const { return std::min(k, std::max(coded->block, kDecodedRows)); }

bool PanelPlan::parallel() const { return m * n * k > kPanelParallel; }

PanelPlan::Piece PanelPlan::PieceOf(int threads) const {
  if (threads == 1) return {std::max<int64_t>(m, 1), std::max<int64_t>(panels, 1)};
  const int64_t each = CeilDiv(panels, threads), idle = each * threads - panels;
  const bool by_rows = 8 * idle > panels && m >= threads * kPanelThinRows;
  if (by_rows) return {CeilDiv(m, 2 * threads), panels};
  // Three panels are read at once where there is one row.
  const int64_t wide = CeilDiv(panels, kPanelPieces * threads);
  return {std::max<int64_t>(m, 1),
          m == 1 && wide > 3 ? CeilDiv(wide, 3) * 3 : std::max<int64_t>(wide, 1)};
}

void PanelPlan::Pack(const float* w, bool transposed, float* to) const {
  if (rounded != nullptr) return PackPairs(w, transposed, reinterpret_cast<uint16_t*>(to));
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t j = p * columns, some = std::min(columns, n - j);
    for (int64_t i = 0; i < k; ++i, to += columns) {
      if (transposed) {
        for (int64_t c = 0; c < some; ++c) to[c] = w[(j + c) * k + i];
      } else {
        std::memcpy(to, w + i * n + j, static_cast<size_t>(some) * sizeof(float));
      }
      std::fill(to + some, to + columns, 0.0f);
    }
  }
}

void PanelPlan::PackPairs(const float* w, bool transposed, uint16_t* to) const {
  // Of a turned matrix: a panel's columns in the order of w.
  std::vector<uint16_t> kept(static_cast<size_t>(transposed ? 2 * steps * columns : 0));
  for (int64_t p = 0; p < panels; ++p, to += 2 * columns * steps) {
    const int64_t j = p * columns, some = std::min(columns, n - j);
    if (transposed) {  // two numbers that stay neighbours are moved as one float
      std::fill(kept.begin(), kept.end(), uint16_t{0});
      for (int64_t c = 0; c < some; ++c) {
        rounded->round(w + (j + c) * k, kept.data() + 2 * c * steps, k);
      }
      simd->transpose(reinterpret_cast<const float*>(kept.data()), steps,
                      reinterpret_cast<float*>(to), columns, columns, steps);
      continue;
    }
    for (int64_t i = 0; i < steps; ++i) {
      const float* row = w + 2 * i * n + j;
      uint16_t* const pairs = to + 2 * i * columns;
      rounded->round_pairs(row, 2 * i + 1 < k ? row + n : nullptr, pairs, some);
      std::fill(pairs + 2 * some, pairs + 2 * columns, uint16_t{0});
    }
  }
}

std::string PanelPlan::PackKey(bool transposed) const {
  return std::string(rounded != nullptr ? "rounded " : "") +
         (transposed ? "turned panels " : "panels ") + ToText({n, k, columns});
}

// Reading weights and multiplying add up: the first block of rows waits for its panel. One thread
// of a machine that reads memory 1.6 times as fast as the one of prices, us, 768 x 3072 and 384 x
// 384 of weights that come from memory: 1 row 400 and 23 (AVX-512), 409 and 27 (AVX2); 8 rows 535
// and 37, 1,070 and 53; 128 rows 6,130 and 351, 6,320 and 372.
constexpr double kRoundNs = 0.08;  // a number of x, read from a cache and written

// ns to unpack a weight to float, in registers for a few rows and in a tile for more, of a machine
// that does 1.45, 1.25 and 2 times as much as the one of prices: 0.018 and 0.028 (AVX-512), 0.034
// and 0.06 (AVX2), 0.088 and 0.1 (SSE4.2), 4 bits in blocks of 32. Reading them hides behind.
// Taking weights out of words, once for some rows of int8: 0.0005 and 0.002.
double DecodeNs(const PanelPlan& plan, const Machine& machine, int64_t rows) {
  if (plan.narrow != nullptr) return ByIsa(machine, 0.00125, 0.003, 0) / machine.compute;
  if (rows <= plan.simd->nbits_rows()) return ByIsa(machine, 0.026, 0.043, 0.17) / machine.compute;
  const auto tiles = static_cast<double>(CeilDiv(rows, kPanelRows));
  return tiles * ByIsa(machine, 0.041, 0.075, 0.2) / machine.compute;
}

double PanelNs(const PanelPlan& plan, const Machine& machine) {
  const bool parallel = machine.threads > 1 && plan.parallel();
  // What the busiest thread does, of pieces that are taken one by one.
  const int threads = parallel ? machine.threads : 1;
  const auto [piece, wide] = plan.PieceOf(threads);
  const bool by_rows = piece < plan.m;
  const int64_t rows = by_rows ? CeilDiv(CeilDiv(plan.m, piece), threads) * piece : plan.m;
  const int64_t panels =
      by_rows ? plan.panels : CeilDiv(CeilDiv(plan.panels, wide), threads) * wide;
  const int64_t columns = std::min(panels * plan.columns, plan.n);
  const double weights = static_cast<double>(columns) * static_cast<double>(plan.panel) * 4 /
                         static_cast<double>(plan.columns);
  const double flops =
      2 * static_cast<double>(columns) * static_cast<double>(plan.k) * static_cast<double>(rows);
  const double all = static_cast<double>(plan.weight_floats()) * 4;
  const bool other = plan.rounded_floats() > 0;  // x is rounded or narrowed first
  const double gain = plan.rounded != nullptr  ? plan.rounded->gain
                      : plan.narrow != nullptr ? plan.narrow->gain
                                               : 1;
  const double rate = gain * ByIsa(machine, 105, 95, 25) * machine.compute;
  const double speed = all < 64e3 ? 70 * machine.stream[0] : 15 * machine.stream[2];
  const double x = static_cast<double>(plan.m) * static_cast<double>(plan.k) / threads;
  const double round = other ? x * kRoundNs / machine.compute : 0;
  const double decode = plan.coded ? static_cast<double>(columns) * static_cast<double>(plan.k) *
                                         DecodeNs(plan, machine, rows)
                                   : 0;
  const double ns = plan.coded ? std::max(flops / rate + decode, weights / speed) + round
                               : flops / rate + weights / speed + round;
  return parallel ? kForkNs + ns / 0.9 : ns;
}

void RunPanels(const Simd& simd, const PanelPlan& plan, bool bias, int threads, float* const* p) {
  PanelProducts(PanelTiles(simd, plan, bias, {}), 0).RunOn(threads, p);
}

std::unique_ptr<Loop> PanelLoop(const Simd& simd, const PanelPlan& plan, bool bias,
                                std::vector<TilePostOp> post_ops) {
  const size_t room = 4 + Operands(post_ops);
  return std::make_unique<PanelProducts>(PanelTiles(simd, plan, bias, std::move(post_ops)), room);
}

}  // namespace ge_engines::cpu::native
