// Inputs of integer convolutions and products. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// Positions in Unit::in of integer convolutions and products; 0 where there is none. Weights and
// their zero points are constants; without y_scale the result is the sums, int32.
struct QuantIn {
  enum : size_t { kX, kW, kXZero, kWZero, kXScale, kWScale, kYScale, kYZero, kBias, kCount };
};
// What Relu and Clip leave of a result's codes.
struct QuantizedRange {
  int32_t least = INT32_MIN, most = INT32_MAX;
};
inline bool IsInt8(int32_t dtype) { return dtype == GE_I8 || dtype == GE_U8; }
// Beyond this many products of 8-bit integers a sum may leave int32: each is at most 255 * 255.
inline constexpr int64_t kMaxInt8Depth = 33000;
// Of groups of 8-bit integers (quantized_group.h): each x and the result with its own scale.
struct QuantizedScale {
  float scale = 1;
  int32_t zero = 0;
  bool is_signed = false;
  bool operator==(const QuantizedScale&) const = default;
};
bool QuantInputs(const Parser& parser, const ge_node& n, Unit* unit, Why* why);

}  // namespace ge_engines
