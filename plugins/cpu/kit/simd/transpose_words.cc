// Transposes of elements of 1, 2 and 8 bytes, by squares that lie in registers.
#include "plugins/cpu/kit/simd/vector.h"
#include "plugins/cpu/kit/thresholds.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

template <class T>
constexpr int kSide = 16 / sizeof(T);  // of a square: lanes of 128 bits
template <class T>
using LineOf = hn::Simd<T, size_t{kSide<T>}, 0>;

// One step of turning a square: vectors i and i + half become 2 i and 2 i + 1, lane by lane. As
// many steps as it takes to number the lanes turn it.
template <class T>
GE_INLINE void WeaveLines(const hn::Vec<LineOf<T>> (&from)[kSide<T>],
                          hn::Vec<LineOf<T>> (&to)[kSide<T>]) {
  const LineOf<T> d;
  constexpr int kHalf = kSide<T> / 2;
  for (int i = 0; i < kHalf; ++i) {
    to[2 * i] = hn::InterleaveLower(d, from[i], from[i + kHalf]);
    to[2 * i + 1] = hn::InterleaveUpper(d, from[i], from[i + kHalf]);
  }
}

template <class T>
GE_INLINE void Square(const T* x, int64_t ldx, T* y, int64_t ldy) {
  const LineOf<T> d;
  constexpr int kN = kSide<T>;
  hn::Vec<LineOf<T>> a[kN], b[kN];
  for (int i = 0; i < kN; ++i) a[i] = hn::LoadU(d, x + i * ldx);
  WeaveLines<T>(a, b);
  if constexpr (kN > 2) {
    WeaveLines<T>(b, a);
    WeaveLines<T>(a, b);
  }
  if constexpr (kN == 16) {
    WeaveLines<T>(b, a);
    for (int i = 0; i < kN; ++i) hn::StoreU(a[i], d, y + i * ldy);
  } else {
    for (int i = 0; i < kN; ++i) hn::StoreU(b[i], d, y + i * ldy);
  }
}

#if HWY_TARGET <= HWY_AVX2
// Four by four words of 8 bytes.
GE_INLINE void WideSquare(const uint64_t* x, int64_t ldx, uint64_t* y, int64_t ldy) {
  const hn::Simd<uint64_t, 4, 0> d;
  const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + ldx);
  const auto c = hn::LoadU(d, x + 2 * ldx), e = hn::LoadU(d, x + 3 * ldx);
  const auto ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
  const auto ce0 = hn::InterleaveLower(d, c, e), ce1 = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce0, ab0), d, y);
  hn::StoreU(hn::ConcatLowerLower(d, ce1, ab1), d, y + ldy);
  hn::StoreU(hn::ConcatUpperUpper(d, ce0, ab0), d, y + 2 * ldy);
  hn::StoreU(hn::ConcatUpperUpper(d, ce1, ab1), d, y + 3 * ldy);
}
constexpr int kWideSide = 4;
#else
GE_INLINE void WideSquare(const uint64_t* x, int64_t ldx, uint64_t* y, int64_t ldy) {
  Square(x, ldx, y, ldy);
}
constexpr int kWideSide = 2;
#endif

// Blocks of columns, so that the lines of y which some rows begin stay in the first cache until the
// next rows end them. The last squares overlap those before.
template <class T>
GE_INLINE void TurnWords(const T* x, int64_t ldx, T* y, int64_t ldy, int64_t rows, int64_t cols) {
  constexpr int64_t kN = sizeof(T) == 8 ? kWideSide : kSide<T>;
  if (rows < kN || cols < kN) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) y[c * ldy + r] = x[r * ldx + c];
    }
    return;
  }
  for (int64_t from = 0; from < cols; from += kTransposeColumns) {
    const int64_t end = from + kTransposeColumns < cols ? from + kTransposeColumns : cols;
    for (int64_t r = 0; r < rows; r += kN) {
      const int64_t row = r + kN <= rows ? r : rows - kN;
      for (int64_t c = from; c < end; c += kN) {
        const int64_t column = c + kN <= cols ? c : cols - kN;
        const T* p = x + row * ldx + column;
        T* const q = y + column * ldy + row;
        if constexpr (sizeof(T) == 8) {
          WideSquare(p, ldx, q, ldy);
        } else {
          Square(p, ldx, q, ldy);
        }
      }
    }
  }
}

}  // namespace

void TransposeWords(int64_t bytes, const void* x, int64_t ldx, void* y, int64_t ldy, int64_t rows,
                    int64_t cols) {
  const auto run = [=](auto t) GE_LAMBDA {
    using T = decltype(t);
    TurnWords(static_cast<const T*>(x), ldx, static_cast<T*>(y), ldy, rows, cols);
  };
  if (bytes == 1) return run(uint8_t());
  if (bytes == 2) return run(uint16_t());
  run(uint64_t());
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
