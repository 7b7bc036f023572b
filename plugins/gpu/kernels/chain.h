// Chains of pointwise steps: the steps are data, so that any chain is one launch. Tensors may
// differ in dtype; what lies between is float32, and rounded once, where it is stored.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/functions.h"
#include "plugins/gpu/kernels/index.h"

namespace ge_engines::gpu {

inline constexpr int kMostChainSteps = 24, kMostChainOperands = 8;

struct ChainStep {
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;
  int32_t operand = 0;  // its place; 0: none
};

// How a tensor meets the result.
enum class Meets : int32_t {
  kWhole,    // element by element
  kOne,      // it has one element
  kStrided,  // by its strides
  kBeside,   // by its strides; the elements of a thread lie side by side, at a multiple of kWidth
  kSame,     // by its strides; the elements of a thread are one
};

// Places: result, x, operands.
struct ChainArgs : Args<2 + kMostChainOperands> {
  int64_t n = 0;  // elements of the result
  Axes axes;
  Meets meets[2 + kMostChainOperands] = {};
  Strides strides[2 + kMostChainOperands];
  int32_t step_count = 0;
  ChainStep step[kMostChainSteps];
};

// Elements [first, first + count) of the result's order, of place k.
GE_GPU_BODY void Load(const ChainArgs& a, int k, int64_t first, int count, Wide* to) {
  const Meets meets = a.meets[k];
  if (meets == Meets::kWhole && count == kWidth) {
    return LoadWide(a.at[k].data, a.of[k], first, to);
  }
  if (meets == Meets::kBeside) {
    return LoadWide(a.at[k].data, a.of[k], PlaceOf(a.axes, a.strides[k], first), to);
  }
  if (meets == Meets::kOne || meets == Meets::kSame) {
    const int64_t at = meets == Meets::kOne ? 0 : PlaceOf(a.axes, a.strides[k], first);
    const float one = a.Float(k, at);
    for (int j = 0; j < kWidth; ++j) to->v[j] = one;
    return;
  }
  for (int j = 0; j < kWidth; ++j) {
    if (j >= count) {
      to->v[j] = 0;
      continue;
    }
    const int64_t n = first + j;
    to->v[j] = a.Float(k, meets == Meets::kWhole ? n : PlaceOf(a.axes, a.strides[k], n));
  }
}

GE_GPU_BODY void ChainThread(const ChainArgs& a, int64_t i) {
  const int64_t first = i * kWidth, left = a.n - first;
  const int count = left < kWidth ? static_cast<int>(left) : kWidth;
  Wide v, y;
  Load(a, 1, first, count, &v);
  for (int s = 0; s < a.step_count; ++s) {
    const ChainStep& step = a.step[s];
    if (step.operand == 0) {
      ApplyUnary(step.fn, step.a, step.b, &v);
    } else {
      Load(a, step.operand, first, count, &y);
      ApplyBinary(step.fn, y, &v);
    }
  }
  if (count == kWidth) return StoreWide(a.at[0].data, a.of[0], first, v);
  for (int j = 0; j < kWidth; ++j) {
    if (j < count) a.Store(0, first + j, v.v[j]);
  }
}

}  // namespace ge_engines::gpu
