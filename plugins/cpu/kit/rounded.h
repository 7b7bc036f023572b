// Products of float32 whose inputs are rounded to bfloat16 (to the nearest, ties to even) and
// summed in float32: what GE_PRECISION_BF16 permits, where the processor has AVX512-BF16, by AMX
// where it has that, too. Denormal inputs and sums count as zero. Pure functions, any thread;
// pointers need the alignment of their elements.
#pragma once

#include <cstdint>

#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu {

struct Rounded {
  using Product = void(const uint16_t* a, int64_t lda, const uint16_t* b, int64_t panel,
                       const float* bias, float* y, int64_t ldy, int64_t m, int64_t n,
                       int64_t pairs);
  int64_t columns;  // of a panel
  double gain;      // operations a ns over those of float32, of products of many rows
  // As Simd::panel_product, of rows in pairs: a has rows of 2 * pairs numbers, `lda` apart, b
  // panels of [pairs][columns][2], `panel` numbers apart.
  Product* product;
  void (*round)(const float* x, uint16_t* y, int64_t n);
  // y[2 * i] and y[2 * i + 1] are x[i] and z[i], rounded; z may be nullptr for zeros.
  void (*round_pairs)(const float* x, const float* z, uint16_t* y, int64_t n);
};

extern const Rounded kRounded_avx512;
extern Rounded::Product* const kTileProduct;  // where HasTiles()

// For an instruction set, GE_ISA_* and never NATIVE; nullptr where this processor or the set has
// none.
const Rounded* RoundedOf(uint32_t isa);

// Whether this process may use the tiles of AMX. The first call asks the system for them, which it
// gives to threads that start later, too.
bool HasTiles();

}  // namespace ge_engines::cpu
