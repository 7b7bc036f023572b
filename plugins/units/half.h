// Numbers of 16 bits, as float32. Pure; any thread.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "ge/ge_plugin.h"

namespace ge_engines {

inline float FloatOfHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 31u, digits = half & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | digits << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | digits << 13);
  const float tiny = static_cast<float>(digits) * 0x1p-24f;
  return sign != 0 ? -tiny : tiny;
}
inline float FloatOfBrain(uint16_t brain) {
  return std::bit_cast<float>(static_cast<uint32_t>(brain) << 16);
}

// Element i of float32, float16 or bfloat16, at any address.
inline float ElementAsFloat(const void* data, int32_t dtype, size_t i) {
  const auto* bytes = static_cast<const char*>(data);
  if (dtype == GE_F32) {
    float x;
    std::memcpy(&x, bytes + i * sizeof x, sizeof x);
    return x;
  }
  uint16_t code;
  std::memcpy(&code, bytes + i * sizeof code, sizeof code);
  return dtype == GE_F16 ? FloatOfHalf(code) : FloatOfBrain(code);
}

}  // namespace ge_engines
