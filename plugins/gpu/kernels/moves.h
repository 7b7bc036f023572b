// Moves: elements of 1, 2, 4, 8 or 16 bytes from one strided place to another. What they mean does
// not matter.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"

namespace ge_engines::gpu {

// 16 bytes of neighbours.
struct alignas(16) Block16 {
  uint64_t part[2];
};

// Places: result, x.
struct MoveArgs : Args<2> {
  Axes axes;
  Strides to, from;
  int64_t to_first = 0, from_first = 0;
};

template <class T>
GE_GPU_BODY void MoveThread(const MoveArgs& a, int64_t i) {
  int64_t to = a.to_first, from = a.from_first;
  PlacesOf(a.axes, a.to, a.from, i, &to, &from);
  a.out<T>(0)[to] = a.in<T>(1)[from];
}

// Places: result, x, filling.
struct PadArgs : Args<3> {
  Axes axes;                                             // of the result
  Strides from;                                          // of x
  int64_t before[kMostAxes] = {}, size[kMostAxes] = {};  // of x, in the result
  bool filled = false;                                   // else with zeros
};

template <class T>
GE_GPU_BODY void PadThread(const PadArgs& a, int64_t i) {
  auto rest = static_cast<uint64_t>(i);
  int64_t from = 0;
  bool inside = true;
  for (int k = a.axes.count - 1; k >= 0; --k) {
    const uint64_t over = a.axes.size[k].Quotient(rest);
    const int64_t c = static_cast<int64_t>(rest - over * a.axes.size[k].divisor) - a.before[k];
    inside = inside && c >= 0 && c < a.size[k];
    from += c * a.from.at[k];
    rest = over;
  }
  a.out<T>(0)[i] = inside ? a.in<T>(1)[from] : a.filled ? a.in<T>(2)[0] : T();
}

// An index of an axis, counted from its end where it is negative; -1 for one beyond.
GE_GPU_BODY int64_t Inside(int64_t index, int64_t size) {
  const int64_t at = index < 0 ? index + size : index;
  return at >= 0 && at < size ? at : -1;
}

// Places: result, data, indices of int32 or int64.
struct GatherArgs : Args<3> {
  Divider index_count, inner;  // result: [outer, index_count, inner]
  int64_t size = 0;            // of the axis
  bool backwards = true;       // negative indices count from the end
};

template <class T>
GE_GPU_BODY void GatherThread(const GatherArgs& a, int64_t i) {
  const auto n = static_cast<uint64_t>(i);
  const uint64_t row = a.inner.Quotient(n), inner = n - row * a.inner.divisor;
  const uint64_t outer = a.index_count.Quotient(row), k = row - outer * a.index_count.divisor;
  const int64_t index = a.Index(2, static_cast<int64_t>(k)), at = Inside(index, a.size);
  if (at < 0 || (index < 0 && !a.backwards)) return Refuse();
  const int64_t from =
      (static_cast<int64_t>(outer) * a.size + at) * static_cast<int64_t>(a.inner.divisor) +
      static_cast<int64_t>(inner);
  a.out<T>(0)[i] = a.in<T>(1)[from];
}

// Places: result, condition, x, z.
struct WhereArgs : Args<4> {
  Axes axes;
  Strides strides[4];
};

template <class T>
GE_GPU_BODY void WhereThread(const WhereArgs& a, int64_t i) {
  const bool yes = a.in<uint8_t>(1)[PlaceOf(a.axes, a.strides[1], i)] != 0;
  const int from = yes ? 2 : 3;
  a.out<T>(0)[i] = a.in<T>(from)[PlaceOf(a.axes, a.strides[from], i)];
}

}  // namespace ge_engines::gpu
