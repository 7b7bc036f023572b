// A layer of RNN, GRU or LSTM as one step. It multiplies the inputs of some steps at once. Then
// each step multiplies the state with weights in panels and runs the cell on vectors. Source:
// ONNX's operators. It owns no tensors; immutable, any number of threads may run it, each with its
// own scratch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/recurrent/recurrent.h"

namespace ge_engines::cpu::native {

struct RecurrentHas {
  bool bias = false, lengths = false, h = false, c = false, peepholes = false;
  bool packed = true;  // else w and r lie as ONNX has them and are packed at each run
};

// Sizes of the layer's pieces, in floats.
struct RecurrentPlan {
  RecurrentPlan(const Simd& simd, const RecurrentSpec& spec, const RecurrentHas& has, int threads);
  RecurrentSpec spec;
  RecurrentHas has;
  int threads;
  int64_t w_panels, r_panels;  // of one direction's weights
  // Pieces of the batch: a thread takes its piece through all steps without a barrier.
  int64_t pieces;
  int64_t rows;   // of a piece at most
  int64_t block;  // steps whose inputs are multiplied at once
  bool alone;     // one thread does a piece of one direction, else all do one after the other

  // Whether the last gate has a product of its own: a GRU with its reset gate before the product.
  bool apart() const { return spec.cell == Cell::kGru && !spec.reset_after; }
  int64_t first_gates() const { return apart() ? 2 * spec.hidden : spec.gates(); }
  // All directions' panels.
  void PackW(const Simd& simd, const float* w, float* to) const;
  void PackR(const Simd& simd, const float* r, float* to) const;
  // Equal where PackW, PackR write the same.
  std::string WKey(const Simd& simd) const;
  std::string RKey(const Simd& simd) const;
  int64_t piece_floats() const;
  // Floats of scratch, with the order of samples, and the panels if each run packs them.
  int64_t scratch_floats() const;
};

// Buffers: y, y_h, y_c, x, w, r, scratch, bias [directions][2 gates], lengths (int32), h, c,
// peepholes [directions][3 hidden]; any buffer for those that the spec or `has` excludes. Lengths
// outside of [0, steps] make Do return GE_INVALID_ARGUMENT.
std::unique_ptr<Kernel> RecurrentKernel(const Simd& simd, const RecurrentPlan& plan);

// The rows of one piece of the batch at one step, for its cells; rows lie one behind the other.
struct CellRows {
  const float* x;          // [rows][gates], the inputs' product with its biases
  float* z;                // [rows][first gates], the state's
  float *h, *c;            // [rows][hidden], updated; c of LSTM alone
  float* left;             // [rows][hidden] of scratch
  const float* peepholes;  // [3 hidden] or nullptr
  const CellFn* fn;        // of this direction
};
// Rows [0, n) after the state's product.
void RnnCells(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n);
void LstmCells(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n);
void GruCells(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n);
// For a GRU with its reset before the product: GruGates makes gates and left; then GruState makes
// the state of `product` [rows][hidden], left times the last gate's weights.
void GruGates(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n);
void GruState(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows,
              const float* product, int64_t n);

}  // namespace ge_engines::cpu::native
