// Scalars of the reference engine: 16-bit floats, widening rules, and dispatch from a dtype number
// to a C++ type. Conversions round to nearest, ties to even. Pure; any thread.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ge/ge_plugin.h"

namespace ref {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

// Bits of a finite a >= 0 in a format of `man_bits` mantissa bits, rounded as if exponents were
// unbounded. Bits grow with the value, so the caller compares with its greatest ones.
inline uint32_t EncodeMagnitude(double a, int man_bits, int bias) {
  const uint64_t b = std::bit_cast<uint64_t>(a);
  const int e = static_cast<int>(b >> 52) - 1023;
  uint64_t man = b & ((uint64_t{1} << 52) - 1);
  int shift = 52 - man_bits;
  uint64_t code = 0;
  if (e >= 1 - bias) {
    code = static_cast<uint64_t>(e + bias) << man_bits;
  } else {  // below the least normal: the hidden bit becomes explicit
    shift += 1 - bias - e;
    if (shift > 53) return 0;
    man |= uint64_t{1} << 52;
  }
  code += man >> shift;
  const uint64_t rest = man & ((uint64_t{1} << shift) - 1);
  const uint64_t tie = uint64_t{1} << (shift - 1);
  if (rest > tie || (rest == tie && (code & 1) != 0)) ++code;
  return static_cast<uint32_t>(code);
}

inline double DecodeMagnitude(uint32_t code, int man_bits, int bias) {
  const int e = static_cast<int>(code >> man_bits);
  const uint32_t man = code & ((1u << man_bits) - 1);
  if (e == 0) return std::ldexp(static_cast<double>(man), 1 - bias - man_bits);
  return std::ldexp(static_cast<double>(man | (1u << man_bits)), e - bias - man_bits);
}

inline Half HalfOf(double value) {
  const uint32_t sign = std::signbit(value) ? 0x8000u : 0;
  if (std::isnan(value)) return Half{static_cast<uint16_t>(sign | 0x7e00u)};
  uint32_t code = std::isinf(value) ? 0x7c00u : EncodeMagnitude(std::fabs(value), 10, 15);
  if (code > 0x7c00u) code = 0x7c00u;
  return Half{static_cast<uint16_t>(sign | code)};
}
inline float FloatOf(Half half) {
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
  const uint32_t mag = half.bits & 0x7fffu;
  if (mag >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((mag & 0x3ffu) << 13));
  if (mag >= 0x0400u) return std::bit_cast<float>(sign | ((mag << 13) + (112u << 23)));
  const float small = static_cast<float>(mag) * 0x1p-24f;
  return sign != 0 ? -small : small;
}
inline BFloat BFloatOf(double value) {
  const uint32_t sign = std::signbit(value) ? 0x8000u : 0;
  if (std::isnan(value)) return BFloat{static_cast<uint16_t>(sign | 0x7fc0u)};
  uint32_t code = std::isinf(value) ? 0x7f80u : EncodeMagnitude(std::fabs(value), 7, 127);
  if (code > 0x7f80u) code = 0x7f80u;
  return BFloat{static_cast<uint16_t>(sign | code)};
}
inline float FloatOf(BFloat bfloat) {
  return std::bit_cast<float>(static_cast<uint32_t>(bfloat.bits) << 16);
}

template <class T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

// Type of a single + - * / or comparison: 16-bit floats use float (one operation and one rounding
// give the correctly rounded result), integers are modulo 2^n.
template <class T>
struct ArithOf {
  using type = T;
};
template <>
struct ArithOf<Half> {
  using type = float;
};
template <>
struct ArithOf<BFloat> {
  using type = float;
};
template <class T>
using Arith = typename ArithOf<T>::type;

// Type of sums and of transcendental functions: double for every float.
template <class T>
using Exact = std::conditional_t<kIsFloat<T>, double, T>;

template <class T>
Arith<T> Widen(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
    return FloatOf(value);
  } else {
    return value;
  }
}

// A float as an integer: truncated. NaN and numbers outside int64 become its least value; narrower
// types keep the low bits (as x86 does, and with it the peers).
template <class T>
T IntOf(double value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value);
  }
  const bool fits = value >= -0x1p63 && value < 0x1p63;
  const int64_t i = fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
  return static_cast<T>(static_cast<uint64_t>(i));
}

// Rounds (or, for integers, truncates and wraps) to T.
template <class T, class From>
T Narrow(From from) {
  if constexpr (std::is_same_v<T, From>) {
    return from;
  } else if constexpr (std::is_same_v<T, Half>) {
    return HalfOf(static_cast<double>(from));
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return BFloatOf(static_cast<double>(from));
  } else if constexpr (std::is_same_v<T, bool>) {
    return from != From{0};
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>) {
    return IntOf<T>(from);
  } else {
    return static_cast<T>(from);
  }
}

// Unaligned access: constants may lie anywhere.
template <class T>
T Load(const T* value, int64_t i) {
  T v;
  std::memcpy(&v, reinterpret_cast<const char*>(value) + i * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return v;
}
template <class T>
void Store(T* value, int64_t i, T given) {
  std::memcpy(reinterpret_cast<char*>(value) + i * static_cast<int64_t>(sizeof(T)), &given,
              sizeof(T));
}

// ---- dispatch: call(Tag<T>()) for the type of a dtype; false when the dtype is not of the set --

template <class T>
struct Tag {
  using type = T;
};

template <class F>
bool VisitFloat(int32_t dtype, F&& call) {
  switch (dtype) {
    case GE_F32:
      return call(Tag<float>()), true;
    case GE_F64:
      return call(Tag<double>()), true;
    case GE_F16:
      return call(Tag<Half>()), true;
    case GE_BF16:
      return call(Tag<BFloat>()), true;
    default:
      return false;
  }
}
template <class F>
bool VisitSignedInt(int32_t dtype, F&& call) {
  switch (dtype) {
    case GE_I8:
      return call(Tag<int8_t>()), true;
    case GE_I16:
      return call(Tag<int16_t>()), true;
    case GE_I32:
      return call(Tag<int32_t>()), true;
    case GE_I64:
      return call(Tag<int64_t>()), true;
    default:
      return false;
  }
}
template <class F>
bool VisitUnsignedInt(int32_t dtype, F&& call) {
  switch (dtype) {
    case GE_U8:
      return call(Tag<uint8_t>()), true;
    case GE_U16:
      return call(Tag<uint16_t>()), true;
    case GE_U32:
      return call(Tag<uint32_t>()), true;
    case GE_U64:
      return call(Tag<uint64_t>()), true;
    default:
      return false;
  }
}
template <class F>
bool VisitInt(int32_t dtype, F&& call) {
  return VisitSignedInt(dtype, call) || VisitUnsignedInt(dtype, call);
}
template <class F>
bool VisitNumber(int32_t dtype, F&& call) {
  return VisitFloat(dtype, call) || VisitInt(dtype, call);
}
// The four integer types of linear algebra.
template <class F>
bool VisitWideInt(int32_t dtype, F&& call) {
  switch (dtype) {
    case GE_I32:
      return call(Tag<int32_t>()), true;
    case GE_I64:
      return call(Tag<int64_t>()), true;
    case GE_U32:
      return call(Tag<uint32_t>()), true;
    case GE_U64:
      return call(Tag<uint64_t>()), true;
    default:
      return false;
  }
}

}  // namespace ref
