// Rows of numbers in pieces for threads to share, and sums of their squares. Only for the sources
// of loops over rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu::native {

constexpr int64_t kShort = 16;  // elements of a row that is not worth the calls of vector loops

constexpr int64_t kBlockElements = 4096;

// Elements added up in float32. A great square may round away the 64 others of one of eight partial
// sums, 4e-6 of the total at most; a whole row of 20,000 lost 1.5e-4. Pieces of half the length
// make a row of 1,000 take 15 % longer instead of 4 %.
constexpr int64_t kPiece = 512;

// The range in which squares fit float32. NaN lies outside of it.
constexpr float kLeast = 1e-15f, kMost = 1e15f;

inline bool InRange(float norm) { return std::fabs(norm) >= kLeast && std::fabs(norm) <= kMost; }

// f(r) for each of so many rows of n > 0 elements.
template <class F>
void ForRows(int64_t rows, int64_t n, F call) {
  const int64_t each = std::max<int64_t>(1, kBlockElements / n);
  ForRange(rows * n > kParallel, (rows + each - 1) / each, [&](int64_t b) {
    const int64_t end = std::min(rows, (b + 1) * each);
    for (int64_t r = b * each; r < end; ++r) call(r);
  });
}

inline double SquaresOf(const float* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

// The sum of part(first, count) over the pieces of a row.
template <class F>
double InPieces(int64_t n, F part) {
  double sum = 0;
  for (int64_t i = 0; i < n; i += kPiece) {
    sum += static_cast<double>(part(i, std::min(kPiece, n - i)));
  }
  return sum;
}

inline double VectorSquares(const Simd& simd, const float* x, int64_t n) {
  return InPieces(n, [&](int64_t i, int64_t count) {
    float sum = 0, square = 0;
    simd.moment_sums(x + i, 0, count, &sum, &square);
    return square;
  });
}

}  // namespace ge_engines::cpu::native
