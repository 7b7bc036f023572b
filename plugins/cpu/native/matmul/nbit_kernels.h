// Products of n-bit weights by rows of x rounded to 8 bits, as MatMulNBits permits at
// accuracy_level 4. Each block of a row has its own scale: its greatest magnitude by 127. Sums of a
// block are exact; an 8-bit value takes a fourth of a float's bytes. Weights stay in the panels of
// nbits.h. NBitKernelsOf chooses at run time, like Dot4KernelsOf (quantized/dot4_kernels.h). They
// own nothing; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/functions.h"

namespace ge_engines::cpu::native {

// A row of x becomes one record a block: its scale (a float), the negated sum of its int8 values
// (int32), then these values, in the order of the weights in a panel's words.
inline constexpr int64_t kNBitHead = 8;
// Longest block: a sum of more int8 values does not fit into 16 bits.
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

// Bytes of the records of k floats.
int64_t NBitBytes(const NBitsForm& form, int64_t k);
// Null where this processor, the instruction set (GE_ISA_*) or the form has none.
const NBitKernels* NBitKernelsOf(uint32_t isa, const NBitsForm& form);
extern const NBitKernels kNBitKernelsAvx512, kNBitKernelsAvx2;

// Order of 16 int8 values of x, for weights of 2, 4 and 8 bits. A word holds the first weight in
// its highest bits. Weights at the same position of their bytes form a quad, the highest position
// first.
extern const uint8_t kNarrowOrder2[16], kNarrowOrder4[16], kNarrowOrder8[16];

}  // namespace ge_engines::cpu::native
