// Chains of pointwise steps on float32: the steps are data, so that any chain is one launch.
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

// Elements [4 i, 4 i + 4) of place k.
GE_GPU_BODY Four Load(const ChainArgs& a, int k, int64_t i, int count) {
  const float* x = a.in<float>(k);
  Four four = {};
  if (a.meets[k] == Meets::kWhole) {
    if (count == kWidth) return reinterpret_cast<const Four*>(x)[i];
    for (int j = 0; j < kWidth; ++j) four.v[j] = j < count ? x[i * kWidth + j] : 0.0f;
    return four;
  }
  for (int j = 0; j < kWidth; ++j) {
    if (j >= count) break;
    const int64_t at =
        a.meets[k] == Meets::kOne ? 0 : PlaceOf(a.axes, a.strides[k], i * kWidth + j);
    four.v[j] = x[at];
  }
  return four;
}

GE_GPU_BODY void ChainThread(const ChainArgs& a, int64_t i) {
  const int64_t left = a.n - i * kWidth;
  const int count = left < kWidth ? static_cast<int>(left) : kWidth;
  Four v = Load(a, 1, i, count);
  for (int s = 0; s < a.step_count; ++s) {
    const ChainStep& step = a.step[s];
    if (step.operand == 0) {
      ApplyUnary(step.fn, step.a, step.b, &v);
    } else {
      ApplyBinary(step.fn, Load(a, step.operand, i, count), &v);
    }
  }
  auto* out = a.out<float>(0);
  if (count == kWidth) {
    reinterpret_cast<Four*>(out)[i] = v;
    return;
  }
  for (int j = 0; j < kWidth; ++j) {
    if (j < count) out[i * kWidth + j] = v.v[j];
  }
}

}  // namespace ge_engines::gpu
