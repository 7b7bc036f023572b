// Functions of integers, and questions about the bits of floats: loops that the compiler makes
// vectors of.
#include <limits>
#include <type_traits>

#include "ge/ge_plugin.h"
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

template <class T, class R, class F>
GE_INLINE void EachPair(const void* x, const void* z, void* y, int64_t n, F f) {
  const T *a = static_cast<const T*>(x), *b = static_cast<const T*>(z);
  R* const to = static_cast<R*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(f(a[i], b[i]));
}

// What integers of 8 and 16 bits are computed in: signed overflow is no part of the language.
template <class T>
using Modular = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

// Of unsigned numbers; signed ones have the same bits.
template <class T>
void Bits(Fn fn, const void* x, const void* z, void* y, int64_t n) {
  using U = Modular<T>;
  constexpr T kBits = 8 * sizeof(T);
  switch (fn) {
    case Fn::kAdd:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return U(a) + U(b); });
    case Fn::kSub:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return U(a) - U(b); });
    case Fn::kRSub:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return U(b) - U(a); });
    case Fn::kMul:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return U(a) * U(b); });
    case Fn::kAnd:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return a & b; });
    case Fn::kOr:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return a | b; });
    case Fn::kXor:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return a ^ b; });
    case Fn::kShiftLeft:  // a negative number of places is a great one here
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA {
        return b < kBits ? static_cast<U>(a) << (b & (kBits - 1)) : 0;
      });
    default:
      return;
  }
}

// The quotient, truncated; of integers below 2^53 that of doubles is the same. By -1 it wraps.
template <class T>
GE_INLINE T Quotient(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return static_cast<T>(Modular<T>(0) - Modular<T>(a));
    }
    return static_cast<T>(a / b);
  } else if constexpr (sizeof(T) < 4) {
    return static_cast<T>(static_cast<int32_t>(static_cast<float>(a) / static_cast<float>(b)));
  } else {
    // By 1 and -1 alone the quotient may be beyond int32.
    const bool one = b == T(1) || (std::is_signed_v<T> && b == T(-1));
    const double q = one ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
    const T turned = b == T(1) ? a : static_cast<T>(Modular<T>(0) - Modular<T>(a));
    return one ? turned : static_cast<T>(static_cast<int32_t>(q));
  }
}
template <class T>
GE_INLINE T RestOf(T a, T b) {
  return static_cast<T>(Modular<T>(a) - Modular<T>(Quotient(a, b)) * Modular<T>(b));
}

template <class T>
void Divisions(Fn fn, const void* x, const void* z, void* y, int64_t n) {
  switch (fn) {
    case Fn::kDiv:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return Quotient(a, b); });
    case Fn::kFmod:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return RestOf(a, b); });
    default:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA {
        const T rest = RestOf(a, b);
        const bool other = rest != 0 && (rest < T(0)) != (b < T(0));
        return other ? Modular<T>(rest) + Modular<T>(b) : Modular<T>(rest);
      });
  }
}

template <class T>
void Ordered(Fn fn, const void* x, const void* z, void* y, int64_t n) {
  switch (fn) {
    case Fn::kMax:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return a < b ? b : a; });
    case Fn::kMin:
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA { return b < a ? b : a; });
    case Fn::kShiftRight:  // copies of the sign bit come in
      return EachPair<T, T>(x, z, y, n, [](T a, T b) GE_LAMBDA {
        constexpr T kLast = 8 * sizeof(T) - 1;
        const T gone = a < T(0) ? T(-1) : T(0);
        return b < T(0) || b > kLast ? gone : static_cast<T>(a >> (b & kLast));
      });
    case Fn::kAbs:
      if constexpr (std::is_signed_v<T>) {
        return EachPair<T, T>(x, z, y, n, [](T a, T) GE_LAMBDA {
          return a < 0 ? Modular<T>(0) - Modular<T>(a) : Modular<T>(a);
        });
      }
      return;
    case Fn::kSign:
      if constexpr (std::is_signed_v<T>) {
        return EachPair<T, T>(x, z, y, n, [](T a, T) GE_LAMBDA { return (a > 0) - (a < 0); });
      }
      return;
    case Fn::kDiv:
    case Fn::kFmod:
    case Fn::kMod:
      return Divisions<T>(fn, x, z, y, n);
    default:
      return Bits<std::make_unsigned_t<T>>(fn, x, z, y, n);
  }
}

template <class T>
void Tests(Compare op, const void* x, const void* z, void* y, int64_t n) {
  switch (op) {
    case Compare::kEqual: {
      using U = std::make_unsigned_t<T>;
      return EachPair<U, uint8_t>(x, z, y, n, [](U a, U b) GE_LAMBDA { return a == b; });
    }
    case Compare::kLess:
      return EachPair<T, uint8_t>(x, z, y, n, [](T a, T b) GE_LAMBDA { return a < b; });
    case Compare::kLessOrEqual:
      return EachPair<T, uint8_t>(x, z, y, n, [](T a, T b) GE_LAMBDA { return a <= b; });
    case Compare::kGreater:
      return Tests<T>(Compare::kLess, z, x, y, n);
    case Compare::kGreaterOrEqual:
      return Tests<T>(Compare::kLessOrEqual, z, x, y, n);
  }
}

// use(T()) for the integer of a dtype.
template <class Use>
GE_INLINE void OfDType(int32_t dtype, Use use) {
  switch (dtype) {
    case GE_I8:
      return use(int8_t());
    case GE_U8:
      return use(uint8_t());
    case GE_I16:
      return use(int16_t());
    case GE_U16:
      return use(uint16_t());
    case GE_I32:
      return use(int32_t());
    case GE_U32:
      return use(uint32_t());
    case GE_I64:
      return use(int64_t());
    case GE_U64:
      return use(uint64_t());
    default:
      return;
  }
}

// Floats as integers, truncated: those that int32 cannot hold as the low bits of int64, whose least
// value stands for NaN and what it cannot hold.
template <class T, class From>
GE_INLINE T Truncated(From v) {
  const bool fits = v >= From(-0x1p63) && v < From(0x1p63);
  const int64_t least = std::numeric_limits<int64_t>::min();
  return static_cast<T>(static_cast<uint64_t>(fits ? static_cast<int64_t>(v) : least));
}
template <class T, class From>
void Truncate(const From* x, T* y, int64_t n) {
  constexpr int64_t kTogether = 64;
  constexpr From kEnd = From(0x1p31);
  for (int64_t at = 0; at < n; at += kTogether) {
    const int64_t end = at + kTogether < n ? at + kTogether : n;
    int far = 0;
    // float32 beyond int32 has no last 8 bits: it is a multiple of 256.
    if constexpr (sizeof(T) > 1 || sizeof(From) > 4) {
      for (int64_t i = at; i < end; ++i) far |= !(x[i] > -kEnd) | !(x[i] < kEnd);
    }
    if (far != 0) {
      for (int64_t i = at; i < end; ++i) y[i] = Truncated<T>(x[i]);
      continue;
    }
    for (int64_t i = at; i < end; ++i) {
      const From near = x[i] > -kEnd && x[i] < kEnd ? x[i] : From(0);
      y[i] = static_cast<T>(static_cast<int32_t>(near));
    }
  }
}
template <class From>
void TruncateTo(int32_t dtype, const From* x, void* y, int64_t n) {
  switch (dtype) {
    case GE_BOOL: {
      auto* const to = static_cast<uint8_t*>(y);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) to[i] = x[i] != From(0);
      return;
    }
    case GE_I8:
    case GE_U8:
      return Truncate(x, static_cast<uint8_t*>(y), n);
    case GE_I16:
    case GE_U16:
      return Truncate(x, static_cast<uint16_t*>(y), n);
    case GE_I64:
      return Truncate(x, static_cast<int64_t*>(y), n);
    default:
      return Truncate(x, static_cast<uint32_t*>(y), n);
  }
}

// y[i] = f(x[i])
template <class From, class To, class F>
GE_INLINE void CastEach(const void* x, void* y, int64_t n, F f) {
  const From* const from = static_cast<const From*>(x);
  To* const to = static_cast<To*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(f(from[i]));
}
// Of integers, or as bools (f) of bytes: the low bits, or the number as a float.
template <class From, class F>
GE_INLINE void CastFrom(int32_t to, const void* x, void* y, int64_t n, F f) {
  switch (to) {
    case GE_F32:
      return CastEach<From, float>(x, y, n, f);
    case GE_F64:
      return CastEach<From, double>(x, y, n, f);
    case GE_I8:
    case GE_U8:
      return CastEach<From, uint8_t>(x, y, n, f);
    case GE_I16:
    case GE_U16:
      return CastEach<From, uint16_t>(x, y, n, f);
    case GE_I32:
    case GE_U32:
      return CastEach<From, uint32_t>(x, y, n, f);
    case GE_I64:
    case GE_U64:
      return CastEach<From, uint64_t>(x, y, n, f);
    default:
      return CastEach<From, uint8_t>(x, y, n, [](From v) GE_LAMBDA { return v != From(0); });
  }
}

template <class B>
GE_INLINE void AskBits(const FloatBits& q, const void* x, uint8_t* y, int64_t n) {
  const B infinity = static_cast<B>(q.infinity), low = static_cast<B>(q.low),
          high = static_cast<B>(q.high);
  const B* const from = static_cast<const B*>(x);
  if (q.nan) {
    const B shifted = static_cast<B>(infinity << 1);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<B>(from[i] << 1) > shifted;
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<uint8_t>((from[i] == low) | (from[i] == high));
  }
}

template <class T>
GE_INLINE void Choose(const uint8_t* c, const void* x, int64_t sx, const void* z, int64_t sz,
                      void* y, int64_t n) {
  const T *a = static_cast<const T*>(x), *b = static_cast<const T*>(z);
  T* const to = static_cast<T*>(y);
  if (sx != 0 && sz != 0) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = c[i] != 0 ? a[i] : b[i];
  } else if (sx != 0) {
    const T other = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = c[i] != 0 ? a[i] : other;
  } else if (sz != 0) {
    const T other = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = c[i] != 0 ? other : b[i];
  } else {
    const T p = *a, q = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = c[i] != 0 ? p : q;
  }
}

}  // namespace

void Wholes(Fn fn, int32_t dtype, const void* x, const void* z, void* y, int64_t n) {
  OfDType(dtype, [=](auto t) GE_LAMBDA { Ordered<decltype(t)>(fn, x, z, y, n); });
}

void CompareWholes(Compare op, int32_t dtype, const void* x, const void* z, uint8_t* out,
                   int64_t n) {
  OfDType(dtype, [=](auto t) GE_LAMBDA { Tests<decltype(t)>(op, x, z, out, n); });
}

void TruncateFloats(bool wide, int32_t dtype, const void* x, void* y, int64_t n) {
  if (wide) return TruncateTo(dtype, static_cast<const double*>(x), y, n);
  TruncateTo(dtype, static_cast<const float*>(x), y, n);
}

void CastWholes(int32_t from, int32_t to, const void* x, void* y, int64_t n) {
  if (from == GE_BOOL) {  // any byte but 0 is true
    return CastFrom<uint8_t>(to, x, y, n, [](uint8_t v) GE_LAMBDA { return v != 0; });
  }
  OfDType(from, [=](auto t) GE_LAMBDA {
    using From = decltype(t);
    CastFrom<From>(to, x, y, n, [](From v) GE_LAMBDA { return v; });
  });
}

void AskFloats(const FloatBits& question, const void* x, uint8_t* out, int64_t n) {
  if (question.size == 2) return AskBits<uint16_t>(question, x, out, n);
  if (question.size == 4) return AskBits<uint32_t>(question, x, out, n);
  AskBits<uint64_t>(question, x, out, n);
}

void SelectOther(int size, const uint8_t* c, const void* x, int64_t sx, const void* z, int64_t sz,
                 void* out, int64_t n) {
  if (size == 1) return Choose<uint8_t>(c, x, sx, z, sz, out, n);
  if (size == 2) return Choose<uint16_t>(c, x, sx, z, sz, out, n);
  Choose<uint64_t>(c, x, sx, z, sz, out, n);
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
