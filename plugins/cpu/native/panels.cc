#include "plugins/cpu/native/panels.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"

namespace ge_native {

PanelTiles::PanelTiles(const Simd& simd, const PanelPlan& plan, bool bias,
                       std::vector<TilePost> posts)
    : simd_(simd), p_(plan), bias_(bias), posts_(std::move(posts)) {}

// In tiles that stay in the second cache.
void PanelTiles::Part(const float* x, int64_t lda, float* const* p, int64_t r, int64_t m,
                      int64_t first, int64_t panels) const {
  for (int64_t row = 0; row < m; row += kPanelRows) {
    for (int64_t at = 0; at < panels; at += kPanelsOfTile) {
      Tile(x + row * lda, lda, p, r + row, std::min(kPanelRows, m - row), first + at,
           std::min(kPanelsOfTile, panels - at));
    }
  }
}

void PanelTiles::Tile(const float* x, int64_t lda, float* const* p, int64_t r, int64_t m,
                      int64_t first, int64_t panels) const {
  const int64_t panel = p_.columns * p_.steps, j = first * p_.columns;
  const int64_t n = std::min(panels * p_.columns, p_.n - j);
  const int64_t step = m <= kPanelThinRows ? n : p_.columns;
  const float* w = p[2] + first * panel;
  float* y = p[0] + r * p_.n + j;
  for (int64_t c = 0; c < n; c += step, w += panel) {
    const float* bias = bias_ ? p[3] + j + c : nullptr;
    const int64_t some = std::min(step, n - c);
    if (p_.rounded == nullptr) {
      simd_.panel_product(x, lda, w, panel, bias, y + c, p_.n, m, some, p_.k);
    } else {
      p_.rounded->product(reinterpret_cast<const uint16_t*>(x), 2 * lda,
                          reinterpret_cast<const uint16_t*>(w), 2 * panel, bias, y + c, p_.n, m,
                          some, p_.steps);
    }
  }
  FinishTile(simd_, posts_, p, 4, y, m, n, p_.n);
}

namespace {

class PanelProducts final : public Loop {
 public:
  PanelProducts(PanelTiles tiles, size_t room) : room_(room), tiles_(std::move(tiles)) {}

  void Run(float* const* p) const override { RunOn(std::max(1, omp_get_max_threads()), p); }

  void RunOn(int most, float* const* p) const {
    const PanelPlan& plan = tiles_.plan();
    const int threads = plan.parallel() ? most : 1;
    if (plan.rounded != nullptr) RoundInput(p, threads);
    const float* x = plan.rounded != nullptr ? p[room_] : p[1];
    const auto [rows, wide] = plan.PieceOf(threads);
    const int64_t across = CeilDiv(plan.panels, wide), down = CeilDiv(plan.m, rows);
    // Whoever is there takes the next piece: a neighbour on one core holds up no other.
    std::atomic<int64_t> next = 0;
    auto work = [&, rows = rows, wide = wide] {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < across * down;) {
        const int64_t r = i / across * rows, c = i % across * wide;
        tiles_.Part(x + r * plan.steps, plan.steps, p, r, std::min(rows, plan.m - r), c,
                    std::min(wide, plan.panels - c));
      }
    };
    if (threads == 1 || across * down == 1) return work();
    OnThreads(threads, work);
  }

 private:
  // Rows in pairs of numbers, which take the room of a float each.
  void RoundInput(float* const* p, int threads) const {
    const PanelPlan& plan = tiles_.plan();
    ForRange(threads > 1 && plan.m * plan.k > kParallel, plan.m, [&](int64_t r) {
      auto* to = reinterpret_cast<uint16_t*>(p[room_] + r * plan.steps);
      plan.rounded->round(p[1] + r * plan.k, to, plan.k);
      if (plan.k % 2 != 0) to[plan.k] = 0;
    });
  }

  const size_t room_;  // place of the rounded input
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
      steps(rounded != nullptr ? CeilDiv(k, 2) : k) {}

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

void PanelPlan::Pack(const float* w, bool turned, float* to) const {
  if (rounded != nullptr) return PackPairs(w, turned, reinterpret_cast<uint16_t*>(to));
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t j = p * columns, some = std::min(columns, n - j);
    for (int64_t i = 0; i < k; ++i, to += columns) {
      if (turned) {
        for (int64_t c = 0; c < some; ++c) to[c] = w[(j + c) * k + i];
      } else {
        std::memcpy(to, w + i * n + j, static_cast<size_t>(some) * sizeof(float));
      }
      std::fill(to + some, to + columns, 0.0f);
    }
  }
}

void PanelPlan::PackPairs(const float* w, bool turned, uint16_t* to) const {
  // Of a turned matrix: a panel's columns in the order of w.
  std::vector<uint16_t> kept(static_cast<size_t>(turned ? 2 * steps * columns : 0));
  for (int64_t p = 0; p < panels; ++p, to += 2 * columns * steps) {
    const int64_t j = p * columns, some = std::min(columns, n - j);
    if (turned) {  // two numbers that stay neighbours are moved as one float
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

std::string PanelPlan::PackKey(bool turned) const {
  return std::string(rounded != nullptr ? "rounded " : "") +
         (turned ? "turned panels " : "panels ") + ToText({n, k, columns});
}

// Reading weights and multiplying add up: the first block of rows waits for its panel. One thread
// of a machine that reads memory 1.6 times as fast as the one of prices, us, 768 x 3072 and 384 x
// 384 of weights that come from memory: 1 row 400 and 23 (AVX-512), 409 and 27 (AVX2); 8 rows 535
// and 37, 1,070 and 53; 128 rows 6,130 and 351, 6,320 and 372.
constexpr double kRoundNs = 0.08;  // a number of x, read from a cache and written

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
  const double weights = static_cast<double>(columns) * static_cast<double>(plan.steps) * 4;
  const double flops =
      2 * static_cast<double>(columns) * static_cast<double>(plan.k) * static_cast<double>(rows);
  const double all = static_cast<double>(plan.n) * static_cast<double>(plan.steps) * 4;
  // Pairs go as fast as single numbers; x is rounded first.
  const double rate = ByIsa(machine, plan.rounded != nullptr ? 210 : 105, 95, 25) * machine.compute;
  const double speed = all < 64e3 ? 70 * machine.stream[0] : 15 * machine.stream[2];
  const double x = static_cast<double>(plan.m) * static_cast<double>(plan.k) / threads;
  const double round = plan.rounded != nullptr ? x * kRoundNs / machine.compute : 0;
  const double ns = flops / rate + weights / speed + round;
  return parallel ? kForkNs + ns / 0.9 : ns;
}

void RunPanels(const Simd& simd, const PanelPlan& plan, bool bias, int threads, float* const* p) {
  PanelProducts(PanelTiles(simd, plan, bias, {}), 0).RunOn(threads, p);
}

std::unique_ptr<Loop> PanelLoop(const Simd& simd, const PanelPlan& plan, bool bias,
                                std::vector<TilePost> posts) {
  const size_t room = 4 + Operands(posts);
  return std::make_unique<PanelProducts>(PanelTiles(simd, plan, bias, std::move(posts)), room);
}

}  // namespace ge_native
