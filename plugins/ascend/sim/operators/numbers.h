// Numbers of the vendor's dtypes as float32 and int64, and the padding's poison. Reals are rounded
// to nearest even, once; integers of a real are cut towards zero and held within their range. Pure.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "plugins/units/half.h"

namespace ge_engines::ascend::sim {

// Lanes of padding hold this NaN, whose digits float16 and bfloat16 have, too.
inline constexpr uint32_t kPoison = 0x7ff50000u;
inline bool IsPoison(float x) { return (std::bit_cast<uint32_t>(x) & 0x7fffffffu) == kPoison; }

inline uint16_t HalfOf(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  uint32_t half;
  if (size > 0x7f800000u) {
    half = 0x7e00u | (size >> 13 & 0x3ffu);  // a NaN keeps its digits
  } else if (size >= 0x477ff000u) {
    half = 0x7c00u;
  } else if (size < 0x38800000u) {
    // Numbers from 1/2 to 1 are as far apart as float16's smallest.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u;
  } else {
    half = (size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

inline uint16_t BrainOf(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// Elements as they lie in memory.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Flag {
  uint8_t bits;
};

inline float RealOf(float x) { return x; }
inline float RealOf(Half x) { return FloatOfHalf(x.bits); }
inline float RealOf(Brain x) { return FloatOfBrain(x.bits); }
inline float RealOf(Flag x) { return x.bits != 0 ? 1.0f : 0.0f; }
template <class T>
requires std::is_integral_v<T>
float RealOf(T x) { return static_cast<float>(x); }

template <class T>
T CutTo(float x) {
  if (std::isnan(x)) return 0;
  // The greatest of a wide integer is no float: the next power of two is.
  constexpr float kEnd = static_cast<float>(std::numeric_limits<T>::max() / 2 + 1) * 2;
  if (x >= kEnd) return std::numeric_limits<T>::max();
  if (x <= static_cast<float>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(x);
}

inline int64_t WholeOf(Flag x) { return x.bits != 0 ? 1 : 0; }
template <class T>
requires std::is_integral_v<T> int64_t WholeOf(T x) { return static_cast<int64_t>(x); }
template <class T>
int64_t WholeOf(T x) {
  return CutTo<int64_t>(RealOf(x));
}

// An element of type T of a number.
template <class T>
T ElementOf(float x) {
  if constexpr (std::is_same_v<T, float>) return x;
  if constexpr (std::is_same_v<T, Half>) return {HalfOf(x)};
  if constexpr (std::is_same_v<T, Brain>) return {BrainOf(x)};
  if constexpr (std::is_same_v<T, Flag>) return {static_cast<uint8_t>(x != 0)};
  if constexpr (std::is_integral_v<T>) return CutTo<T>(x);
}
template <class T>
T ElementOf(int64_t x) {
  if constexpr (std::is_same_v<T, Flag>) {
    return {static_cast<uint8_t>(x != 0)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(x);
  } else {
    return ElementOf<T>(static_cast<float>(x));
  }
}

template <class V, class T>
V NumberOf(T x) {
  if constexpr (std::is_same_v<V, float>) return RealOf(x);
  if constexpr (std::is_same_v<V, int64_t>) return WholeOf(x);
}

}  // namespace ge_engines::ascend::sim
