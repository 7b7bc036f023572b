// Rows of 8-bit integers and the range to clamp them to. Only for the sources of loops. Plain
// values; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/quantized/inputs.h"

namespace ge_engines::cpu::native {

inline const uint8_t* Codes(const float* p) { return reinterpret_cast<const uint8_t*>(p); }

inline uint8_t* Codes(float* p) { return reinterpret_cast<uint8_t*>(p); }

inline QuantizedRow RowOf(const QuantizedScale& scale, const float* p, int64_t at) {
  return {const_cast<uint8_t*>(Codes(p)) + at, scale.scale, scale.zero, scale.is_signed};
}

inline int32_t LeastOf(const QuantizedScale& y, const QuantizedRange& range) {
  return std::max(y.is_signed ? -128 : 0, range.least);
}

inline int32_t MostOf(const QuantizedScale& y, const QuantizedRange& range) {
  return std::min(y.is_signed ? 127 : 255, range.most);
}

}  // namespace ge_engines::cpu::native
