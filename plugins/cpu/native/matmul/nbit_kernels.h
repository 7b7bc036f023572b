// Products of weights of few bits by rows of x in whole steps of 8 bits, which MatMulNBits permits
// where its accuracy_level is 4: each block of a row has a scale of its own, its greatest magnitude
// by 127. Sums of a block are exact; a code takes a fourth of what a float does. Weights stay in
// the panels of nbits.h. Chosen at run time, as quantized/dot4_kernels.h. They own nothing; any
// thread.
#pragma once

#include <cstdint>

#include "plugins/units/functions.h"

namespace ge_engines::cpu::native {

// A row of x becomes records, one a block: a float, by which its codes are times; an int32, their
// sum negated; then the codes, in the order that kernels meet those of weights in a panel's words.
inline constexpr int64_t kNBitHead = 8;
// The sum of a longer block's codes does not fit into 16 bits.
inline constexpr int64_t kNBitBlock = 256;

struct NBitProduct {
  NBitsForm form;
  const uint8_t* x;
  int64_t x_step;          // bytes from a row to the next
  const uint8_t* b;        // panels
  int64_t panel, columns;  // bytes from a panel to the next, columns of one
  const float* bias;       // of n, or nullptr
  float* y;
  int64_t ldy, m, n, k;
};

struct NBitKernels {
  void (*narrow)(const NBitsForm& form, const float* x, int64_t k, uint8_t* to);
  void (*product)(const NBitProduct& q);
  double gain;  // operations a ns over those of floats, of products of many rows
};

// Of the records of k floats.
int64_t NBitBytes(const NBitsForm& form, int64_t k);
// Null where this processor, the instruction set (GE_ISA_*) or the form has none.
const NBitKernels* NBitKernelsOf(uint32_t isa, const NBitsForm& form);
extern const NBitKernels kNBitKernelsAvx512, kNBitKernelsAvx2;

// Where each of 16 codes of x goes, for weights of 2, 4 and 8 bits: a word holds the first code in
// its highest bits, and those whose places in their bytes are the same are a quad, the highest
// first.
extern const uint8_t kNarrowOrder2[16], kNarrowOrder4[16], kNarrowOrder8[16];

}  // namespace ge_engines::cpu::native
