// Shared by the loops of products of 8-bit integers: positions of their buffers, and cutting
// scratch. Only for the sources of these loops. Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ge_engines::cpu::native {

constexpr uint64_t kLine = 64;

inline uint64_t Padded(uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

// Cuts scratch into arrays aligned to cache lines.
struct Room {
  char* at;
  template <class T>
  T* Take(int64_t n) {
    auto* p = reinterpret_cast<T*>(at);
    at += Padded(static_cast<uint64_t>(n) * sizeof(T));
    return p;
  }
};

// Buffers: result, x and weights, those of QuantIn, scratch.
enum Placed : size_t { kY, kX, kW, kXZero, kXScale, kWScale, kYScale, kYZero, kBias, kScratch };

inline int32_t Int8At(const void* memory, bool is_signed, int64_t i = 0) {
  return is_signed ? static_cast<const int8_t*>(memory)[i] : static_cast<const uint8_t*>(memory)[i];
}
inline float FloatAt(const float* p, int64_t i = 0) { return p[i]; }

}  // namespace ge_engines::cpu::native
