// Columns of integers, and of floats in double, brought together: loops that the compiler makes
// vectors of.
#include <type_traits>

#include "ge/ge_plugin.h"
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

// acc[j] = f(acc[j], x[r * stride + j]), four rows at a time.
template <class T, class A, class F>
GE_INLINE void FoldRows(const void* x, int64_t rows, int64_t stride, void* acc, int64_t n, F f) {
  const T* from = static_cast<const T*>(x);
  A* const to = static_cast<A*>(acc);
  if (n == 1 && stride == 1) {
    A all = *to;
    for (int64_t i = 0; i < rows; ++i) all = f(all, A(from[i]));
    *to = all;
    return;
  }
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, from += 4 * stride) {
    const T *p = from + stride, *q = p + stride, *s = q + stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      to[j] = f(f(f(f(to[j], A(from[j])), A(p[j])), A(q[j])), A(s[j]));
    }
  }
  for (; r < rows; ++r, from += stride) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) to[j] = f(to[j], A(from[j]));
  }
}

template <class T>
void FoldExtremes(bool greatest, const void* x, int64_t rows, int64_t stride, void* acc,
                  int64_t n) {
  if (greatest) {
    return FoldRows<T, T>(x, rows, stride, acc, n,
                          [](T a, T v) GE_LAMBDA { return a < v ? v : a; });
  }
  FoldRows<T, T>(x, rows, stride, acc, n, [](T a, T v) GE_LAMBDA { return v < a ? v : a; });
}

// Sums and products in A, modulo 2^n of integers.
template <class T, class A>
void FoldSums(ColumnFold fold, const void* x, int64_t rows, int64_t stride, void* acc, int64_t n) {
  switch (fold) {
    case ColumnFold::kProduct:
      return FoldRows<T, A>(x, rows, stride, acc, n, [](A a, A v) GE_LAMBDA { return A(a * v); });
    case ColumnFold::kSquareSum:
    case ColumnFold::kDoubleSquares:
      return FoldRows<T, A>(x, rows, stride, acc, n,
                            [](A a, A v) GE_LAMBDA { return A(a + v * v); });
    case ColumnFold::kAbsSum:
      if constexpr (std::is_floating_point_v<A>) {
        return FoldRows<T, A>(x, rows, stride, acc, n,
                              [](A a, A v) GE_LAMBDA { return a + __builtin_fabs(v); });
      } else {  // of the bits of signed numbers
        constexpr A kSign = A(1) << (8 * sizeof(A) - 1);
        return FoldRows<T, A>(x, rows, stride, acc, n,
                              [](A a, A v) GE_LAMBDA { return (v & kSign) != 0 ? a - v : a + v; });
      }
    default:
      return FoldRows<T, A>(x, rows, stride, acc, n, [](A a, A v) GE_LAMBDA { return A(a + v); });
  }
}

// Of integers of 32 and 64 bits.
template <class T>
void FoldWhole(ColumnFold fold, const void* x, int64_t rows, int64_t stride, void* acc, int64_t n) {
  using U = std::make_unsigned_t<T>;
  switch (fold) {
    case ColumnFold::kMax:
    case ColumnFold::kMin:
      return FoldExtremes<T>(fold == ColumnFold::kMax, x, rows, stride, acc, n);
    case ColumnFold::kWideSum:
      return FoldSums<T, int64_t>(ColumnFold::kSum, x, rows, stride, acc, n);
    case ColumnFold::kDoubleSum:
    case ColumnFold::kDoubleSquares:
      return FoldSums<T, double>(fold, x, rows, stride, acc, n);
    case ColumnFold::kAbsSum:
      if constexpr (std::is_unsigned_v<T>) {
        return FoldSums<U, U>(ColumnFold::kSum, x, rows, stride, acc, n);
      }
      return FoldSums<U, U>(fold, x, rows, stride, acc, n);
    default:
      return FoldSums<U, U>(fold, x, rows, stride, acc, n);
  }
}

}  // namespace

void FoldColumns(ColumnFold fold, int32_t dtype, const void* x, int64_t rows, int64_t stride,
                 void* acc, int64_t n) {
  switch (dtype) {
    case GE_I8:
      return FoldExtremes<int8_t>(fold == ColumnFold::kMax, x, rows, stride, acc, n);
    case GE_U8:
    case GE_BOOL:
      return FoldExtremes<uint8_t>(fold == ColumnFold::kMax, x, rows, stride, acc, n);
    case GE_I32:
      return FoldWhole<int32_t>(fold, x, rows, stride, acc, n);
    case GE_U32:
      return FoldWhole<uint32_t>(fold, x, rows, stride, acc, n);
    case GE_I64:
      return FoldWhole<int64_t>(fold, x, rows, stride, acc, n);
    case GE_U64:
      return FoldWhole<uint64_t>(fold, x, rows, stride, acc, n);
    case GE_F32:
      return FoldSums<float, double>(fold, x, rows, stride, acc, n);
    default:
      return FoldSums<double, double>(fold, x, rows, stride, acc, n);
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
