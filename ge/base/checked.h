// Checked arithmetic on sizes that come from files, users and plugins.
// Each function answers nullopt instead of wrapping; it never traps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace ge {

inline std::optional<int64_t> CheckedAdd(int64_t left, int64_t right) {
  int64_t r;
  if (__builtin_add_overflow(left, right, &r)) return std::nullopt;
  return r;
}
inline std::optional<int64_t> CheckedSub(int64_t left, int64_t right) {
  int64_t r;
  if (__builtin_sub_overflow(left, right, &r)) return std::nullopt;
  return r;
}
inline std::optional<int64_t> CheckedMul(int64_t left, int64_t right) {
  int64_t r;
  if (__builtin_mul_overflow(left, right, &r)) return std::nullopt;
  return r;
}
// Product of dims; nullopt on a negative dim or on overflow. A zero dim gives 0.
inline std::optional<int64_t> CheckedProduct(std::span<const int64_t> dims) {
  int64_t r = 1;
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) zero = true;
  }
  if (zero) return 0;
  for (int64_t d : dims) {
    if (__builtin_mul_overflow(r, d, &r)) return std::nullopt;
  }
  return r;
}
// Rounds up to a power of two `align`.
inline std::optional<int64_t> CheckedAlign(int64_t n, int64_t align) {
  auto r = CheckedAdd(n, align - 1);
  if (!r) return std::nullopt;
  return *r & ~(align - 1);
}

}  // namespace ge
