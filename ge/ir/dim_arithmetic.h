// Integer arithmetic behind DimTable: rounding division and saturating sums for ranges.
// Pure functions; private to ge/ir.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ge {

// Rounds towards minus infinity; `right` is not 0, and not -1 when `left` is INT64_MIN.
inline int64_t FloorDivide(int64_t left, int64_t right) {
  const int64_t q = left / right;
  return left % right != 0 && (left < 0) != (right < 0) ? q - 1 : q;
}

// The remainder of FloorDivide; it has the sign of `right`. Same limits.
inline int64_t FloorRemainder(int64_t left, int64_t right) {
  const int64_t r = left % right;
  return r != 0 && (r < 0) != (right < 0) ? r + right : r;
}

inline int64_t SaturatingAdd(int64_t left, int64_t right) {
  int64_t r;
  if (!__builtin_add_overflow(left, right, &r)) return r;
  return left < 0 ? INT64_MIN : INT64_MAX;
}

inline int64_t SaturatingMul(int64_t left, int64_t right) {
  int64_t r;
  if (!__builtin_mul_overflow(left, right, &r)) return r;
  return (left < 0) == (right < 0) ? INT64_MAX : INT64_MIN;
}

// The name as it stands, or quoted when it is not an identifier.
void AppendSymbolName(std::string_view name, std::string* out);

}  // namespace ge
