// The plain product of matrices, which stands in where a library has none.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"

namespace ge_engines::gpu {

// Places: result, a, b. result[batch][row][column], dense.
struct ProductArgs : Args<3> {
  Divider rows, columns;
  int64_t depth = 0;
  // In elements: from row to row, along the depth, from column to column, from batch to batch.
  int64_t a_row = 0, a_depth = 0, a_batch = 0, b_depth = 0, b_column = 0, b_batch = 0;
};

// In sums of 32 products each, so that deep products keep their digits.
GE_GPU_BODY void ProductThread(const ProductArgs& p, int64_t i) {
  constexpr int64_t kPiece = 32;
  const uint64_t line = p.columns.Quotient(static_cast<uint64_t>(i));
  const auto column = i - static_cast<int64_t>(line * p.columns.divisor);
  const uint64_t batch = p.rows.Quotient(line);
  const auto row = static_cast<int64_t>(line - batch * p.rows.divisor);
  const int64_t a = static_cast<int64_t>(batch) * p.a_batch + row * p.a_row;
  const int64_t b = static_cast<int64_t>(batch) * p.b_batch + column * p.b_column;
  float total = 0;
  for (int64_t first = 0; first < p.depth; first += kPiece) {
    const int64_t end = first + kPiece < p.depth ? first + kPiece : p.depth;
    float sum = 0;
    for (int64_t k = first; k < end; ++k) {
      sum += p.Float(1, a + k * p.a_depth) * p.Float(2, b + k * p.b_depth);
    }
    total += sum;
  }
  p.Store(0, i, total);
}

}  // namespace ge_engines::gpu
