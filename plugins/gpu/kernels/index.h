// Indices: the place of an element in strided tensors of up to eight axes, by divisions that are
// products. Plain values, made on the host.
#pragma once

#include "plugins/gpu/kernels/portable.h"

namespace ge_engines::gpu {

inline constexpr int kMostAxes = 8;

// Divides numbers of [0, 2^63) by one divisor.
struct Divider {
  uint64_t divisor = 1;
  uint64_t factor = 0;  // 2^(63 + shift + 1) / divisor, rounded up; 0: the divisor is 1
  uint32_t shift = 0;
  uint32_t padding = 0;

  static Divider By(uint64_t divisor) {
    Divider d;
    d.divisor = divisor;
    if (divisor <= 1) return d;
    uint32_t log = 0;  // rounded up
    while (log < 63 && (uint64_t{1} << log) < divisor) ++log;
    d.shift = log - 1;
    // 2^(63 + log) / divisor fits 64 bits, for 2^log < 2 * divisor.
    __extension__ using Wide = unsigned __int128;
    const Wide whole = static_cast<Wide>(1) << (63 + log);
    d.factor = static_cast<uint64_t>((whole + divisor - 1) / divisor);
    return d;
  }
  GE_GPU_BODY uint64_t Quotient(uint64_t n) const {
    return factor == 0 ? n : HighProduct(n, factor) >> shift;
  }
};

// The axes that a kernel goes along, outermost first.
struct Axes {
  int32_t count = 0;
  int32_t padding = 0;
  Divider size[kMostAxes];
};

struct Strides {  // in elements
  int64_t at[kMostAxes] = {};
};

// The place of element n, in the order of the axes.
GE_GPU_BODY int64_t PlaceOf(const Axes& axes, const Strides& strides, int64_t n) {
  auto rest = static_cast<uint64_t>(n);
  int64_t place = 0;
  for (int k = axes.count - 1; k >= 0; --k) {
    const uint64_t over = axes.size[k].Quotient(rest);
    place += static_cast<int64_t>(rest - over * axes.size[k].divisor) * strides.at[k];
    rest = over;
  }
  return place;
}

// The same in two tensors.
GE_GPU_BODY void PlacesOf(const Axes& axes, const Strides& left, const Strides& right, int64_t n,
                          int64_t* at_left, int64_t* at_right) {
  auto rest = static_cast<uint64_t>(n);
  for (int k = axes.count - 1; k >= 0; --k) {
    const uint64_t over = axes.size[k].Quotient(rest);
    const auto c = static_cast<int64_t>(rest - over * axes.size[k].divisor);
    *at_left += c * left.at[k];
    *at_right += c * right.at[k];
    rest = over;
  }
}

}  // namespace ge_engines::gpu
