// Integer arithmetic behind DimTable: rounding division and saturating sums for ranges.
// Pure functions; private to ge/ir.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ge {

// Rounds towards minus infinity; b is not 0, and not -1 when a is INT64_MIN.
inline int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

// What FloorDivide leaves over; it has the sign of b. Same limits.
inline int64_t FloorRemainder(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

inline int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_mul_overflow(a, b, &r)) return r;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

// The name as it stands, or quoted when it is not an identifier.
void AppendSymbolName(std::string_view name, std::string* out);

}  // namespace ge
