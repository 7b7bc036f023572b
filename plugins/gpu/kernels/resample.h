// Axes that are resized or padded by tables of neighbours, and rotary embeddings.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"

namespace ge_engines::gpu {

// How an element of an axis is made of its neighbours.
enum class Blend : int32_t {
  kOne,    // x[at[i]]
  kTwo,    // x[at[i]] + w[i] * (x[next[i]] - x[at[i]])
  kWeigh,  // the sum of w[k] * x[at[i] + k - first[i]], k from first[i] to first[i + 1]
};

// Places: result, x, the table: at, then next or first, then w. One axis of [outer, axis, inner].
struct ResampleArgs : Args<3> {
  Divider inner, size;  // of the result
  int64_t x_size = 0;   // of x along the axis
  Blend blend = Blend::kOne;
};

GE_GPU_BODY void ResampleThread(const ResampleArgs& a, int64_t i) {
  const uint64_t line = a.inner.Quotient(static_cast<uint64_t>(i)), outer = a.size.Quotient(line);
  const auto step = static_cast<int64_t>(a.inner.divisor);
  const auto size = static_cast<int64_t>(a.size.divisor);
  const auto k = static_cast<int64_t>(line - outer * a.size.divisor);
  const int64_t first =
      static_cast<int64_t>(outer) * a.x_size * step + i - static_cast<int64_t>(line) * step;
  const auto* at = a.in<int32_t>(2);
  const int32_t* more = at + size;
  if (a.blend == Blend::kOne) return a.Store(0, i, a.Float(1, first + at[k] * step));
  if (a.blend == Blend::kTwo) {
    const float w = reinterpret_cast<const float*>(more + size)[k];
    const float x = a.Float(1, first + at[k] * step), y = a.Float(1, first + more[k] * step);
    return a.Store(0, i, x + w * (y - x));
  }
  const auto* weights = reinterpret_cast<const float*>(more + size + 1);
  float sum = 0;
  for (int32_t n = more[k]; n < more[k + 1]; ++n) {
    sum += weights[n] * a.Float(1, first + (at[k] + n - more[k]) * step);
  }
  a.Store(0, i, sum);
}

// Places: result, x, cosines, sines, position ids. A thread turns a pair, or copies one of the
// elements that no pair has.
struct RotaryArgs : Args<5> {
  Divider slots, steps, heads;  // of a head: pairs and the rest
  int64_t batch_at = 0, head_at = 0, step_at = 0, half = 0, positions = 0;
  bool interleaved = false, ids = false;
};

GE_GPU_BODY void RotaryThread(const RotaryArgs& a, int64_t i) {
  const uint64_t row = a.slots.Quotient(static_cast<uint64_t>(i)), head_row = a.steps.Quotient(row);
  const uint64_t batch = a.heads.Quotient(head_row);
  const auto k = i - static_cast<int64_t>(row * a.slots.divisor);
  const auto step = static_cast<int64_t>(row - head_row * a.steps.divisor);
  const auto head = static_cast<int64_t>(head_row - batch * a.heads.divisor);
  const int64_t first =
      static_cast<int64_t>(batch) * a.batch_at + head * a.head_at + step * a.step_at;
  if (k >= a.half) {
    const int64_t at = first + k + a.half;
    return a.Store(0, at, a.Float(1, at));
  }
  int64_t line = static_cast<int64_t>(batch * a.steps.divisor) + step;
  if (a.ids) {
    line = a.in<int64_t>(4)[line];
    if (line < 0 || line >= a.positions) return Refuse();
  }
  const float cosine = a.Float(2, line * a.half + k), sine = a.Float(3, line * a.half + k);
  const int64_t left = first + (a.interleaved ? 2 * k : k);
  const int64_t right = left + (a.interleaved ? 1 : a.half);
  const float x = a.Float(1, left), y = a.Float(1, right);
  a.Store(0, left, cosine * x - sine * y);
  a.Store(0, right, sine * x + cosine * y);
}

}  // namespace ge_engines::gpu
