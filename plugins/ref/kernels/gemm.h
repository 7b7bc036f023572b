// The one matrix kernel: rows of A times a packed panel of columns of B. MatMul, Gemm, Conv and
// ConvTranspose pack their panels and keep their own results. Arithmetic: f32 and the 16-bit floats
// multiply and add in float over runs of kRun products, runs are added in double; double in double;
// integers modulo 2^n. The order of additions is fixed, so results do not depend on the machine.
// With runs of 64 the error stays below 64 * 2^-24 = 4e-6 of the sum of magnitudes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/ref/scalar.h"
#include "plugins/ref/stop.h"

namespace ref {

inline constexpr int64_t kPanel = 64;  // columns: a run's sums stay in the first-level cache
inline constexpr int64_t kRun = 64;    // products that are added before widening

template <class T>
struct GemmTypes {  // 16-bit and 32-bit floats
  using Product = float;
  using Sum = double;
};
template <>
struct GemmTypes<double> {
  using Product = double;
  using Sum = double;
};
template <class U>
struct GemmInts {
  using Product = U;
  using Sum = U;
};
template <>
struct GemmTypes<int32_t> : GemmInts<uint32_t> {};
template <>
struct GemmTypes<uint32_t> : GemmInts<uint32_t> {};
template <>
struct GemmTypes<int64_t> : GemmInts<uint64_t> {};
template <>
struct GemmTypes<uint64_t> : GemmInts<uint64_t> {};
template <class T>
using Product = typename GemmTypes<T>::Product;
template <class T>
using Sum = typename GemmTypes<T>::Sum;

// Bytes of a panel of `depth` rows.
template <class T>
uint64_t PanelBytes(int64_t depth) {
  return static_cast<uint64_t>(depth) * kPanel * sizeof(Product<T>);
}

// total[j] += sum over k of a(k) * panel[k][j], j < n <= kPanel. `value` is unaligned, step a_k.
template <class T>
void PanelRow(const T* value, int64_t a_k, int64_t depth, const Product<T>* panel, int64_t n,
              Sum<T>* total) {
  using W = Product<T>;
  for (int64_t k0 = 0; k0 < depth; k0 += kRun) {
    const int64_t k1 = std::min(depth, k0 + kRun);
    W part[kPanel] = {};
    int64_t k = k0;
    for (; k + 4 <= k1; k += 4) {  // four at a time: the sums are loaded and stored less often
      W x[4];
      for (int r = 0; r < 4; ++r) x[r] = static_cast<W>(Widen(Load(value, (k + r) * a_k)));
      const W *b0 = panel + k * kPanel, *b1 = b0 + kPanel, *b2 = b1 + kPanel, *b3 = b2 + kPanel;
      for (int64_t j = 0; j < n; ++j) {
        part[j] += (x[0] * b0[j] + x[1] * b1[j]) + (x[2] * b2[j] + x[3] * b3[j]);
      }
    }
    for (; k < k1; ++k) {
      const W x = static_cast<W>(Widen(Load(value, k * a_k)));
      const W* b = panel + k * kPanel;
      for (int64_t j = 0; j < n; ++j) part[j] += x * b[j];
    }
    for (int64_t j = 0; j < n; ++j) total[j] += part[j];
  }
}

// panel[k][j] = b(k, j) for k < depth, j < n, read with steps b_k and b_j.
template <class T>
void PackPanel(const T* value, int64_t b_k, int64_t b_j, int64_t depth, int64_t n,
               Product<T>* panel) {
  using W = Product<T>;
  if (b_j == 1) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < n; ++j) {
        panel[k * kPanel + j] = static_cast<W>(Widen(Load(value, k * b_k + j)));
      }
    }
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < depth; ++k) {
      panel[k * kPanel + j] = static_cast<W>(Widen(Load(value, k * b_k + j * b_j)));
    }
  }
}

// One matrix of `rows` x `depth` times `depth` x `cols`: sink(row, col0, n, totals) gets the sums
// of up to kPanel columns of one row. `panel` is scratch of PanelBytes(depth).
template <class T, class Sink>
void MatrixProduct(const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, int64_t b_j,
                   int64_t rows, int64_t depth, int64_t cols, void* panel, Sink&& sink) {
  Product<T>* packed = static_cast<Product<T>*>(panel);
  for (int64_t j0 = 0; j0 < cols; j0 += kPanel) {
    const int64_t n = std::min(kPanel, cols - j0);
    PackPanel(b + j0 * b_j, b_k, b_j, depth, n, packed);
    for (int64_t r = 0; r < rows; ++r) {
      Sum<T> total[kPanel] = {};
      PanelRow(a + r * a_row, a_k, depth, packed, n, total);
      Spend(depth * n);
      sink(r, j0, n, total);
    }
  }
}

}  // namespace ref
