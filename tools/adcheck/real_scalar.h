// Scalars of ref's kernels copied for Real (tools/gen/dual_kernels.py), in place of
// plugins/ref/scalar.h. float32 and float64 are both Reals: the oracle is as exact for either. Real
// is the only float type, with sizes of its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ge/ge_plugin.hpp"
#include "tools/adcheck/real.h"

namespace refdual {

using ge::adcheck::Real;
namespace num = ge::adcheck::num;

inline uint32_t ElementBits(int32_t dtype) {
  return dtype == GE_F64 || dtype == GE_F32 ? 8 * sizeof(Real) : ge::plugin::ElementBits(dtype);
}
inline bool TensorBytes(const ge_type& type, uint64_t* bytes) {
  const bool ok = ge::plugin::TensorBytes(type, bytes);
  if (type.dtype == GE_F64) *bytes *= sizeof(Real) / sizeof(double);
  if (type.dtype == GE_F32) *bytes *= sizeof(Real) / sizeof(float);
  return ok;
}

// Kernels name it, but no value has it.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
inline float FloatOf(Half) { return 0; }
inline float FloatOf(BFloat) { return 0; }
inline Half HalfOf(Real) { return {}; }
inline BFloat BFloatOf(Real) { return {}; }

template <class T>
inline constexpr bool kIsFloat =
    std::is_same_v<T, Real> || std::is_floating_point_v<T> || std::is_same_v<T, Half>;

// std::is_floating_point, true for Real as for double.
template <class T>
inline constexpr bool kIsPlainFloat = std::is_same_v<T, Real> || std::is_floating_point_v<T>;

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
template <class T>
using Exact = std::conditional_t<kIsFloat<T>, Real, T>;

template <class T>
Arith<T> Widen(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
    return FloatOf(value);
  } else {
    return value;
  }
}

template <class T>
T IntOf(Real out) {
  return static_cast<T>(static_cast<int64_t>(out.v));
}

template <class T, class From>
T Narrow(From from) {
  if constexpr (std::is_same_v<T, From>) {
    return from;
  } else if constexpr (std::is_same_v<T, Half>) {
    return HalfOf(from);
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return BFloatOf(from);
  } else if constexpr (std::is_same_v<T, bool>) {
    return from != From{0};
  } else if constexpr (std::is_integral_v<T> && kIsFloat<From>) {
    return IntOf<T>(from);
  } else {
    return static_cast<T>(from);
  }
}

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

template <class T>
struct Tag {
  using type = T;
};

template <class F>
bool VisitFloat(int32_t dtype, F&& call) {
  return (dtype == GE_F64 || dtype == GE_F32) && (call(Tag<Real>()), true);
}
template <class F>
bool VisitWideInt(int32_t dtype, F&& call) {
  if (dtype == GE_I32) return call(Tag<int32_t>()), true;
  return dtype == GE_I64 && (call(Tag<int64_t>()), true);
}
template <class F>
bool VisitSignedInt(int32_t dtype, F&& call) {
  return VisitWideInt(dtype, call);
}
template <class F>
bool VisitUnsignedInt(int32_t, F&&) {
  return false;
}
template <class F>
bool VisitInt(int32_t dtype, F&& call) {
  return VisitWideInt(dtype, call);
}
template <class F>
bool VisitNumber(int32_t dtype, F&& call) {
  return VisitFloat(dtype, call) || VisitWideInt(dtype, call);
}

}  // namespace refdual
