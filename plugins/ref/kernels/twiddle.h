// Discrete Fourier sums in double: a table of the unit circle, and one output frequency at a time.
// Plain O(n^2); not a fast transform. Pure; any thread.
#pragma once

#include <cmath>
#include <cstdint>

namespace ref {

struct FourierValue {
  double re = 0, im = 0;
};

// circle[2 j], circle[2 j + 1] = cosine and sine of 2 pi j / n.
inline void FillCircle(double* circle, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double t = 2 * M_PI * static_cast<double>(j) / static_cast<double>(n);
    circle[2 * j] = std::cos(t);
    circle[2 * j + 1] = std::sin(t);
  }
}

// Sum over i < count of x[i] e^(sign 2 pi j i k / n); x: real and imaginary parts in turn.
inline FourierValue FourierSum(const double* x, int64_t count, int64_t k, int64_t n, double sign,
                               const double* circle) {
  FourierValue sum;
  int64_t at = 0;  // i * k mod n
  for (int64_t i = 0; i < count; ++i) {
    const double c = circle[2 * at], s = sign * circle[2 * at + 1];
    sum.re += x[2 * i] * c - x[2 * i + 1] * s;
    sum.im += x[2 * i] * s + x[2 * i + 1] * c;
    at = (at + k) % n;
  }
  return sum;
}

}  // namespace ref
