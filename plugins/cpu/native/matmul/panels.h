// Products with constant weights that lie in panels, one form for any number of rows: a prompt and
// a single token read the same pack. They own no tensors; immutable, any number of threads may run
// one. What they do and what that costs: docs/decisions/0027-panels.md.
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
  // rounded: what multiplies x and w rounded, or nullptr, so that they stay as they are.
  PanelPlan(const Simd& simd, int64_t m, int64_t n, int64_t k, const Rounded* rounded = nullptr);
  // Of weights that stay codes; Pack is that of nbits.h. by: what narrows x and multiplies it, or
  // nullptr, so that it stays as it is.
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
  // What a thread takes at once: columns, so that weights are read once, or rows, where panels do
  // not come out even.
  struct Piece {
    int64_t rows, panels;
  };
  Piece PieceOf(int threads) const;
  bool parallel() const;  // worth a second thread
  uint64_t weight_floats() const { return static_cast<uint64_t>(panels * panel); }
  // A row of x as products read it: floats, or the room of so many.
  int64_t row_floats() const;
  // What x takes when it is rounded, rows in pairs of numbers, or narrowed.
  uint64_t rounded_floats() const {
    return rounded == nullptr && narrow == nullptr ? 0 : static_cast<uint64_t>(m * row_floats());
  }
  // Codes: bytes of so many rows of a panel, whole blocks but for the last; rows that are made
  // floats at once, and the room that a thread needs for them.
  int64_t code_bytes(int64_t rows) const;
  bool decodes() const { return coded && narrow == nullptr && m > simd->nbits_rows(); }
  int64_t tile_rows() const;
  uint64_t tile_floats() const {
    return decodes() ? static_cast<uint64_t>(columns * tile_rows()) : 0;
  }
  // w is [k][n], or [n][k] where `turned`.
  void Pack(const float* w, bool transposed, float* to) const;
  // Equal where Pack writes the same.
  std::string PackKey(bool transposed) const;

 private:
  void PackPairs(const float* w, bool transposed, uint16_t* to) const;
};
// A part of such a product and its posts, which are done on a tile while it is in a cache.
// Immutable.
class PanelTiles {
 public:
  PanelTiles(const Simd& simd, const PanelPlan& plan, bool bias, std::vector<TilePostOp> post_ops);
  // Rows [r, r + m) of `panels` panels from `first` on. p: places as of PanelLoop; but x is row r,
  // rows lda floats apart, or the room of so many where they are rounded or narrowed. tile:
  // tile_floats().
  void Part(const float* x, int64_t lda, float* const* p, int64_t r, int64_t m, int64_t first,
            int64_t panels, float* tile = nullptr) const;
  const PanelPlan& plan() const { return p_; }

 private:
  // Rows r, r + 1, ... of a few panels, whose results stay in a cache.
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

// ns of one, on all threads.
double PanelNs(const PanelPlan& plan, const Machine& machine);

// Buffers: result, x, panels, bias of n floats (or any place where there is none), operands of
// posts, and room for rounded_floats() or tile_floats() of each thread, if there are any.
std::unique_ptr<Loop> PanelLoop(const Simd& simd, const PanelPlan& plan, bool bias,
                                std::vector<TilePostOp> post_ops);

// The same at once, without posts, on `threads`, of a plan that rounds nothing. p: result, x,
// panels, bias.
void RunPanels(const Simd& simd, const PanelPlan& plan, bool bias, int threads, float* const* p);

}  // namespace ge_engines::cpu::native
