// Rows: reductions, softmax and norms. One team computes a row where its elements lie side by side;
// else one thread does, and the threads' elements lie side by side.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/functions.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/gpu/kernels/team.h"

namespace ge_engines::gpu {

// Places: result, x. Reduces `length` elements at `inside`, from where `outside` says.
struct ReduceArgs : Args<2> {
  Axes outside, inside;
  Strides out_strides, in_strides;
  int64_t length = 0;
  Reduce reduce = Reduce::kSum;
};

struct Add {
  GE_GPU_BODY float operator()(float x, float y) const { return x + y; }
};
struct Most {
  GE_GPU_BODY float operator()(float x, float y) const { return Greater(x, y); }
};

GE_GPU_BODY float Joined(Reduce reduce, float x, float y) {
  return reduce == Reduce::kMax ? Greater(x, y) : reduce == Reduce::kMin ? Less(x, y) : x + y;
}
GE_GPU_BODY float FirstOf(Reduce reduce) {
  return reduce == Reduce::kMax ? -INFINITY : reduce == Reduce::kMin ? INFINITY : 0.0f;
}
struct Join {
  Reduce reduce;
  GE_GPU_BODY float operator()(float x, float y) const { return Joined(reduce, x, y); }
};
GE_GPU_BODY float Finished(const ReduceArgs& a, float x) {
  return a.reduce == Reduce::kMean ? x / static_cast<float>(a.length) : x;
}

template <class Team>
GE_GPU_BODY void ReduceTeam(const ReduceArgs& a, int64_t row, const Team& team) {
  const float* x = a.in<float>(1) + PlaceOf(a.outside, a.out_strides, row);
  typename Team::template PerLane<float> part;
  team.Each([&](int lane) {
    float v = FirstOf(a.reduce);
    for (int64_t i = lane; i < a.length; i += kTeamLanes) {
      v = Joined(a.reduce, v, x[PlaceOf(a.inside, a.in_strides, i)]);
    }
    part[lane] = v;
  });
  const float total = Finished(a, team.All(part, Join{a.reduce}));
  team.Each([&](int lane) {
    if (lane == 0) a.out<float>(0)[row] = total;
  });
}

// As ReduceTeam, in sums of 32 elements each, so that long columns keep their digits.
GE_GPU_BODY void ReduceThread(const ReduceArgs& a, int64_t row) {
  constexpr int64_t kPiece = 32;
  const float* x = a.in<float>(1) + PlaceOf(a.outside, a.out_strides, row);
  float total = FirstOf(a.reduce);
  for (int64_t first = 0; first < a.length; first += kPiece) {
    const int64_t end = first + kPiece < a.length ? first + kPiece : a.length;
    float v = FirstOf(a.reduce);
    for (int64_t i = first; i < end; ++i) {
      v = Joined(a.reduce, v, x[PlaceOf(a.inside, a.in_strides, i)]);
    }
    total = Joined(a.reduce, total, v);
  }
  a.out<float>(0)[row] = Finished(a, total);
}

// Places: result, x. Rows of `length` elements, `stride` apart: the logarithm, too.
struct SoftmaxArgs : Args<2> {
  int64_t length = 0;
  Divider stride;  // columns side by side; 1: rows
  bool log = false;
};

GE_GPU_BODY float SoftmaxOf(const SoftmaxArgs& a, float x, float most, float sum) {
  return a.log ? x - most - logf(sum) : expf(x - most) / sum;
}

template <class Team>
GE_GPU_BODY void SoftmaxTeam(const SoftmaxArgs& a, int64_t row, const Team& team) {
  const float* x = a.in<float>(1) + row * a.length;
  float* y = a.out<float>(0) + row * a.length;
  typename Team::template PerLane<float> part;
  team.Each([&](int lane) {
    float v = -INFINITY;
    for (int64_t i = lane; i < a.length; i += kTeamLanes) v = Greater(v, x[i]);
    part[lane] = v;
  });
  const float most = team.All(part, Most());
  team.Each([&](int lane) {
    float v = 0;
    for (int64_t i = lane; i < a.length; i += kTeamLanes) v += expf(x[i] - most);
    part[lane] = v;
  });
  const float sum = team.All(part, Add());
  team.Each([&](int lane) {
    for (int64_t i = lane; i < a.length; i += kTeamLanes) y[i] = SoftmaxOf(a, x[i], most, sum);
  });
}

GE_GPU_BODY void SoftmaxThread(const SoftmaxArgs& a, int64_t column) {
  const auto n = static_cast<uint64_t>(column);
  const uint64_t outer = a.stride.Quotient(n), inner = n - outer * a.stride.divisor;
  const auto step = static_cast<int64_t>(a.stride.divisor);
  const int64_t first = static_cast<int64_t>(outer) * a.length * step + static_cast<int64_t>(inner);
  const float* x = a.in<float>(1) + first;
  float* y = a.out<float>(0) + first;
  float most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < a.length; ++i) most = Greater(most, x[i * step]);
  for (int64_t i = 0; i < a.length; ++i) sum += expf(x[i * step] - most);
  for (int64_t i = 0; i < a.length; ++i) y[i * step] = SoftmaxOf(a, x[i * step], most, sum);
}

// Places: result, x, scale, bias.
struct NormArgs : Args<4> {
  int64_t length = 0;
  float eps = 0;
  bool centered = true, scaled = false, biased = false;
};

template <class Team>
GE_GPU_BODY void NormTeam(const NormArgs& a, int64_t row, const Team& team) {
  const float* x = a.in<float>(1) + row * a.length;
  float* y = a.out<float>(0) + row * a.length;
  typename Team::template PerLane<float> part;
  float mean = 0;
  if (a.centered) {
    team.Each([&](int lane) {
      float v = 0;
      for (int64_t i = lane; i < a.length; i += kTeamLanes) v += x[i];
      part[lane] = v;
    });
    mean = team.All(part, Add()) / static_cast<float>(a.length);
  }
  team.Each([&](int lane) {
    float v = 0;
    for (int64_t i = lane; i < a.length; i += kTeamLanes) v += (x[i] - mean) * (x[i] - mean);
    part[lane] = v;
  });
  const float square = team.All(part, Add()) / static_cast<float>(a.length);
  const float factor = 1.0f / sqrtf(square + a.eps);
  team.Each([&](int lane) {
    for (int64_t i = lane; i < a.length; i += kTeamLanes) {
      const float scale = a.scaled ? a.in<float>(2)[i] : 1.0f;
      const float bias = a.biased ? a.in<float>(3)[i] : 0.0f;
      y[i] = (x[i] - mean) * factor * scale + bias;
    }
  });
}

}  // namespace ge_engines::gpu
