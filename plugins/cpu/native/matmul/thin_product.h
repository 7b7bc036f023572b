// Products of few rows with unpacked matrices.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/builder.h"

namespace ge_engines::cpu::native {

// y[b][m][n] = alpha * sum over k of x[b][m][k] * w[b][k][n] (+ bias[n]), plain row-major f32.
struct ThinProduct {
  int64_t batch = 1, m = 1, n = 0, k = 0;
  int64_t x_batch = 0, w_batch = 0;  // elements from one batch to the next; 0 where shared
  bool w_by_columns = false;         // w is [n][k] (Gemm's transB) and not [k][n]
  float alpha = 1.0f;
  bool bias = false;  // of n floats
};

// Buffers: result, x, w, bias or x. Made for m of 1 to 8: each block of 8 rows reads w once, so a
// large m is right but slow. The result overlaps nothing.
std::unique_ptr<Loop> ThinProductLoop(const Simd& simd, const ThinProduct& product);

// A MatMul or a one-pixel convolution for the thin kernels: all rows of one product, folded, and
// the number of products.
struct Fold {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

// ns of a product of m rows, one thread: it streams the weights once for every 8 rows; its
// multiply-adds slow down with less than a block of rows. Measured at 2.8 GHz, m x n x k, GF/s on
// AVX-512 and AVX2: 1x256x256 36 and 31, 8x256x257 105 and 50; bound by the stream 1x1024x256 21,
// 1x768x768 12, 1x3072x768 7.
double ProductNs(const Fold& fold, const Machine& machine, bool near);

void AddProduct(NativeBuilder* builder, const Unit& unit, const ThinProduct& product,
                std::vector<BufferRef> reads);

}  // namespace ge_engines::cpu::native
