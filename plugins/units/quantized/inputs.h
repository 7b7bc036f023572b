// Inputs of integer convolutions and products. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// Positions in Unit::in of integer convolutions and products; 0: absent. Weights and their zero
// points are constants, but where `computed` permits others. Without y_scale the result is the
// int32 sums.
struct QuantIn {
  enum : size_t { kX, kW, kXZero, kWZero, kXScale, kWScale, kYScale, kYZero, kBias, kCount };
};
// The range of a quantized result after Relu and Clip.
struct QuantizedRange {
  int32_t least = INT32_MIN, most = INT32_MAX;
};
inline bool IsInt8(int32_t dtype) { return dtype == GE_I8 || dtype == GE_U8; }
// More products of 8-bit integers (each at most 255 * 255) may overflow an int32 sum.
inline constexpr int64_t kMaxInt8Depth = 33000;
// Scale and zero point of one x or of the result in a quantized group (quantized_group.h).
struct QuantizedScale {
  float scale = 1;
  int32_t zero = 0;
  bool is_signed = false;
  bool operator==(const QuantizedScale&) const = default;
};
// *computed, where given: whether the weights or their zero points are not constant; else that is
// declined.
bool QuantInputs(const Parser& parser, const ge_node& n, Unit* unit, Why* why,
                 bool* computed = nullptr);

}  // namespace ge_engines
