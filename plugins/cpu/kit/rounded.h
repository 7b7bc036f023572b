// Products of float32, summed in float32, with inputs rounded to bfloat16 (to the nearest, ties to
// even), as GE_PRECISION_BF16 permits. They need AVX512-BF16 and use AMX where the processor has
// it. Denormal inputs and sums count as zero. Pure functions, any thread; pointers need the
// alignment of their elements.
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
  // Like Simd::panel_product, with rows in pairs: rows of a have 2 * pairs numbers and lie `lda`
  // apart; b is panels of [pairs][columns][2], `panel` numbers apart.
  Product* product;
  void (*round)(const float* x, uint16_t* y, int64_t n);
  // y[2 * i] and y[2 * i + 1] are x[i] and z[i], rounded; z may be nullptr for zeros.
  void (*round_pairs)(const float* x, const float* z, uint16_t* y, int64_t n);
};

extern const Rounded kRounded_avx512;
extern Rounded::Product* const kTileProduct;  // where HasTiles()

// The kernels of an instruction set, GE_ISA_* and never NATIVE; nullptr if this processor or the
// set has none.
const Rounded* RoundedOf(uint32_t isa);

// Whether this process may use AMX tiles. The first call asks the system for permission; threads
// that start later get it, too.
bool HasTiles();

}  // namespace ge_engines::cpu
