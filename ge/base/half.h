// 16-bit floats as bits, widened to float32. Exact, also for denormals of the 16-bit format, in any
// float mode of the thread. Pure; any thread.
#pragma once

#include <bit>
#include <cstdint>

namespace ge {

// IEEE binary16, ONNX's FLOAT16. It has no branches, so the compiler vectorizes a loop of it.
inline float FloatOfHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffu) << 13;
  // Infinity and NaN: the greatest exponent of binary16 becomes the greatest of float32.
  const uint32_t rebias = magnitude >= (0x7c00u << 13) ? 224u << 23 : 112u << 23;
  // Below the least normal: read as 2^-14 (1 + m), and 2^-14 is subtracted. All are normal here.
  const float small = std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f;
  const uint32_t bits =
      magnitude < (0x0400u << 13) ? std::bit_cast<uint32_t>(small) : magnitude + rebias;
  return std::bit_cast<float>(sign | bits);
}

// The upper half of a float32, ONNX's BFLOAT16.
inline float FloatOfBrain(uint16_t brain) {
  return std::bit_cast<float>(static_cast<uint32_t>(brain) << 16);
}

}  // namespace ge
