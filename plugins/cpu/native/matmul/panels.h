// Products with constant weights in panels. One form serves any number of rows: a prompt and a
// single token read the same pack. They own no tensors; immutable, any number of threads may run
// one. Method and cost: docs/decisions/0027-panels.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/rounded.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/matmul/nbit_kernels.h"
#include "plugins/cpu/native/tile_post_ops.h"

namespace ge_engines::cpu::native {

// y[m][n] = x[m][k] * w[k][n] + bias[n].
struct PanelPlan {
  // rounded: the kernel that rounds x and w and multiplies them; nullptr: no rounding.
  PanelPlan(const Simd& simd, int64_t m, int64_t n, int64_t k, const Rounded* rounded = nullptr);
  // For n-bit weights; Pack is that of nbits.h. by: the kernel that quantizes x and multiplies it;
  // nullptr: x stays float.
  PanelPlan(const Simd& simd, int64_t m, int64_t n, int64_t k, const NBitsForm& form,
            const NBitKernels* by = nullptr);
  const Simd* simd;
  const Rounded* rounded;
  const NBitKernels* narrow = nullptr;
  std::optional<NBitsForm> coded;
  int64_t m, n, k;
  int64_t columns, panels;  // columns of a panel
  int64_t steps;            // rows of a panel, or pairs of them, which take as much room
  int64_t panel;            // floats from a panel to the next, or the room of so many
  // A thread's share at once: columns, so that weights are read once, or rows, if the panels do not
  // divide evenly.
  struct Piece {
    int64_t rows, panels;
  };
  Piece PieceOf(int threads) const;
  bool parallel() const;  // worth a second thread
  uint64_t weight_floats() const { return static_cast<uint64_t>(panels * panel); }
  // Floats that hold a row of x as products read it (float, rounded or quantized).
  int64_t row_floats() const;
  // Floats of the rounded (rows in pairs of numbers) or quantized x.
  uint64_t rounded_floats() const {
    return rounded == nullptr && narrow == nullptr ? 0 : static_cast<uint64_t>(m * row_floats());
  }
  // n-bit weights: bytes of so many rows of a panel, whole blocks but for the last. Below: the rows
  // that are unpacked to floats at once, and a thread's room for them.
  int64_t code_bytes(int64_t rows) const;
  bool decodes() const { return coded && narrow == nullptr && m > simd->nbits_rows(); }
  int64_t tile_rows() const;
  uint64_t tile_floats() const {
    return decodes() ? static_cast<uint64_t>(columns * tile_rows()) : 0;
  }
  // w is [k][n], or [n][k] if `transposed`.
  void Pack(const float* w, bool transposed, float* to) const;
  // Equal where Pack writes the same.
  std::string PackKey(bool transposed) const;

 private:
  void PackPairs(const float* w, bool transposed, uint16_t* to) const;
};
// A part of such a product with its post-ops, applied to a tile while it is in a cache.
// Immutable.
class PanelTiles {
 public:
  PanelTiles(const Simd& simd, const PanelPlan& plan, bool bias, std::vector<TilePostOp> post_ops);
  // Rows [r, r + m) of `panels` panels from `first` on. p: buffers as of PanelLoop, but x is
  // row r, rows lda floats apart (rounded or quantized rows take as much room). tile:
  // tile_floats().
  void Part(const float* x, int64_t lda, float* const* p, int64_t r, int64_t m, int64_t first,
            int64_t panels, float* tile = nullptr) const;
  const PanelPlan& plan() const { return p_; }

 private:
  // Rows r, r + 1, ... of a few panels; their results stay in a cache.
  struct Piece {
    const float* x;
    int64_t lda, r, m, first, panels;
    float* tile;
  };
  void Tile(const Piece& piece, float* const* p) const;
  void Decoded(const Piece& piece, const float* w, const float* bias, float* y, int64_t n) const;

  const Simd& simd_;
  const PanelPlan p_;
  const bool bias_;
  const std::vector<TilePostOp> post_ops_;
};

// ns of one product, on all threads.
double PanelNs(const PanelPlan& plan, const Machine& machine);

// Buffers: result, x, panels, bias of n floats (or any buffer without a bias), operands of
// post-ops, and room for rounded_floats() or tile_floats() of each thread, if there are any.
std::unique_ptr<Loop> PanelLoop(const Simd& simd, const PanelPlan& plan, bool bias,
                                std::vector<TilePostOp> post_ops);

// Runs a plan without rounding at once, without post-ops, on `threads`. p: result, x, panels,
// bias.
void RunPanels(const Simd& simd, const PanelPlan& plan, bool bias, int threads, float* const* p);

}  // namespace ge_engines::cpu::native
