// Rows of 8-bit integers and the range that they are clamped to. Only for the sources of loops.
// Plain values; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/quantized/inputs.h"

namespace ge_engines::cpu::native {

inline const uint8_t* Codes(const float* p) { return reinterpret_cast<const uint8_t*>(p); }

inline uint8_t* Codes(float* p) { return reinterpret_cast<uint8_t*>(p); }

inline QuantizedRow RowOf(const QuantizedScale& s, const float* p, int64_t at) {
  return {const_cast<uint8_t*>(Codes(p)) + at, s.scale, s.zero, s.is_signed};
}

inline int32_t LeastOf(const QuantizedScale& y, const QuantizedRange& r) {
  return std::max(y.is_signed ? -128 : 0, r.least);
}

inline int32_t MostOf(const QuantizedScale& y, const QuantizedRange& r) {
  return std::min(y.is_signed ? 127 : 255, r.most);
}

}  // namespace ge_engines::cpu::native
