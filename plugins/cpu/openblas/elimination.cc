#include "plugins/cpu/openblas/elimination.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu::openblas {
namespace {

// Below it a call of LAPACK takes longer than plain loops.
constexpr int64_t kSmallMatrix = 24;

int64_t PivotOf(const double* m, int64_t n, int64_t k) {
  int64_t pivot = k;
  for (int64_t i = k + 1; i < n; ++i) {
    if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
  }
  return pivot;
}

// Elimination with the greatest pivot of each column, in place.
double SmallDeterminant(double* m, int64_t n) {
  double det = 1;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t pivot = PivotOf(m, n, k);
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + k * n + n, m + pivot * n);
      det = -det;
    }
    const double p = m[k * n + k];
    det *= p;
    if (p == 0) return det;
    for (int64_t i = k + 1; i < n; ++i) {
      const double share = m[i * n + k] / p;
      for (int64_t j = k + 1; j < n; ++j) m[i * n + j] -= share * m[k * n + j];
    }
  }
  return det;
}

// m becomes the unit matrix, while the unit matrix r becomes m's inverse. No pivot is looked at: a
// division by 0 leaves infinities and NaN.
void PlainInverse(double* m, double* r, int64_t n) {
  std::fill(r, r + n * n, 0.0);
  for (int64_t k = 0; k < n; ++k) r[k * n + k] = 1;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t pivot = PivotOf(m, n, k);
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + k * n + n, m + pivot * n);
      std::swap_ranges(r + k * n, r + k * n + n, r + pivot * n);
    }
    const double p = m[k * n + k];
    for (int64_t j = 0; j < n; ++j) {
      m[k * n + j] /= p;
      r[k * n + j] /= p;
    }
    for (int64_t i = 0; i < n; ++i) {
      const double share = m[i * n + k];
      if (i == k || share == 0) continue;
      for (int64_t j = 0; j < n; ++j) {
        m[i * n + j] -= share * m[k * n + j];
        r[i * n + j] -= share * r[k * n + j];
      }
    }
  }
}

// A matrix in row-major order is, to LAPACK, its transpose: of the same determinant, and the
// inverse's transpose is the transpose's inverse.
template <class T>
class Eliminations final : public Loop {
 public:
  Eliminations(const Vendor& blas, const EliminationSpec& spec, int threads)
      : blas_(blas), s_(spec), threads_(threads) {}

  void Run(float* const* p) const override {
    const T* x = reinterpret_cast<const T*>(p[1]);
    T* y = reinterpret_cast<T*>(p[0]);
    const int64_t area = s_.n * s_.n;
    const bool parallel = EliminationNs(s_) * static_cast<double>(s_.count) > 4000;
    ForJobs(parallel ? threads_ : 1, s_.count, p[2], EliminationBytes(s_) / sizeof(float),
            [&](int64_t i, float* room) {
              auto* const m = reinterpret_cast<double*>(room);
              std::copy_n(x + i * area, area, m);
              if (s_.inverse) {
                Invert(x + i * area, m, m + area, y + i * area);
              } else {
                y[i] = static_cast<T>(Determinant(m, m + area));
              }
            });
  }

 private:
  double Determinant(double* m, double* room) const {
    if (s_.n < kSmallMatrix) return SmallDeterminant(m, s_.n);
    const Alone alone(blas_);
    auto* const pivot = reinterpret_cast<int*>(room);
    const int n = static_cast<int>(s_.n);
    int info = 0;
    blas_.getrf(&n, &n, m, &n, pivot, &info);
    double det = 1;
    for (int64_t k = 0; k < s_.n && det != 0; ++k) {
      det *= pivot[k] != k + 1 ? -m[k * s_.n + k] : m[k * s_.n + k];
    }
    return det;
  }
  void Invert(const T* x, double* m, double* room, T* y) const {
    const int64_t area = s_.n * s_.n;
    if (s_.n >= kSmallMatrix && InvertBy(m, room)) {
      std::copy_n(m, area, y);
      return;
    }
    std::copy_n(x, area, m);  // small, or singular
    PlainInverse(m, room, s_.n);
    std::copy_n(room, area, y);
  }
  // False for a singular matrix. room: work of n x n, then pivots.
  bool InvertBy(double* m, double* room) const {
    const Alone alone(blas_);
    auto* const pivot = reinterpret_cast<int*>(room + s_.n * s_.n);
    const int n = static_cast<int>(s_.n), work = n * n;
    int info = 0;
    blas_.getrf(&n, &n, m, &n, pivot, &info);
    if (info == 0) blas_.getri(&n, m, &n, pivot, room, &work, &info);
    return info == 0;
  }

  const Vendor& blas_;
  EliminationSpec s_;
  int threads_;
};

}  // namespace

// The matrix, as much for the inverse or LAPACK's work, and pivots.
uint64_t EliminationBytes(const EliminationSpec& spec) {
  return static_cast<uint64_t>((2 * spec.n * spec.n + spec.n) * int64_t{sizeof(double)} + 63) / 64 *
         64;
}

std::unique_ptr<Loop> EliminationLoop(const Vendor& blas, const EliminationSpec& spec, bool doubles,
                                      int threads) {
  if (doubles) return std::make_unique<Eliminations<double>>(blas, spec, threads);
  return std::make_unique<Eliminations<float>>(blas, spec, threads);
}

double EliminationNs(const EliminationSpec& spec) {
  const auto n = static_cast<double>(spec.n);
  const double flops = (spec.inverse ? 2.0 : 2.0 / 3) * n * n * n;
  if (spec.n < kSmallMatrix) return 20 + flops * (spec.inverse ? 1.1 : 0.6) + 5 * n;
  return 3000 + 100 * n + flops / 20;
}

}  // namespace ge_engines::cpu::openblas
