// A layer of RNN, GRU or LSTM as one step. For some steps at a time the inputs' product is done at
// once; then comes for each step the state's product, with weights in panels, and the cell on
// vectors. Source: ONNX's operators. It owns no tensors; immutable, any number of threads may run
// it, each with scratch of its own.
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

// How the layer is cut; sizes in floats.
struct RecurrentPlan {
  RecurrentPlan(const Simd& simd, const RecurrentSpec& spec, const RecurrentHas& has, int threads);
  RecurrentSpec spec;
  RecurrentHas has;
  int threads;
  int64_t w_panels, r_panels;  // of one direction's weights
  // Pieces of the batch, each of which a thread takes through all steps: they need not meet.
  int64_t pieces;
  int64_t rows;   // of a piece at most
  int64_t block;  // steps whose inputs are multiplied at once
  bool alone;     // one thread does a piece of one direction, else all do one after the other

  // A GRU whose reset gate comes before its product multiplies by the last gate's weights apart.
  bool apart() const { return spec.cell == Cell::kGru && !spec.reset_after; }
  int64_t first_gates() const { return apart() ? 2 * spec.hidden : spec.gates(); }
  // All directions' panels.
  void PackW(const Simd& simd, const float* w, float* to) const;
  void PackR(const Simd& simd, const float* r, float* to) const;
  // Equal where PackW, PackR write the same.
  std::string WKey(const Simd& simd) const;
  std::string RKey(const Simd& simd) const;
  int64_t piece_floats() const;
  // With the order of samples, and the panels where they are packed at each run.
  int64_t scratch_floats() const;
};

// Buffers: y, y_h, y_c, x, w, r, scratch, bias [directions][2 gates], lengths (int32), h, c,
// peepholes [directions][3 hidden]; any place where the spec or `has` says that there is none.
// Lengths outside of [0, steps] make Do return GE_INVALID_ARGUMENT.
std::unique_ptr<Kernel> RecurrentKernel(const Simd& simd, const RecurrentPlan& plan);

// What the cells of one piece of the batch share at one step; rows lie behind each other.
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
// Of a GRU that resets before its product: gates and left; then, with left's
// product with the last gate's weights, [rows][hidden], the state.
void GruGates(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n);
void GruState(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows,
              const float* product, int64_t n);

}  // namespace ge_engines::cpu::native
