// Rows: reductions, softmax and norms. One team computes a row where its elements lie side by side;
// else one thread does, and the threads' elements lie side by side.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/functions.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/gpu/kernels/team.h"

namespace ge_engines::gpu {

// Calls use(i, x) for the elements of one lane: place k holds `length` of them from `first` on.
// They are read by eight where rows begin at multiples of eight.
template <class A, class Use>
GE_GPU_BODY void EachOfRow(const A& a, int k, int64_t first, int64_t length, int lane,
                           const Use& use) {
  if (length % kWidth != 0) {
    for (int64_t i = lane; i < length; i += kTeamLanes) use(i, a.Float(k, first + i));
    return;
  }
  for (int64_t i = lane * kWidth; i < length; i += kTeamLanes * kWidth) {
    Wide w;
    LoadWide(a.at[k].data, a.of[k], first + i, &w);
    for (int j = 0; j < kWidth; ++j) use(i + j, w.v[j]);
  }
}
// The same; what make(i, x) gives becomes element i of place 0, which lies as place k.
template <class A, class Make>
GE_GPU_BODY void MapRow(const A& a, int k, int64_t first, int64_t length, int lane,
                        const Make& make) {
  if (length % kWidth != 0) {
    for (int64_t i = lane; i < length; i += kTeamLanes) {
      a.Store(0, first + i, make(i, a.Float(k, first + i)));
    }
    return;
  }
  for (int64_t i = lane * kWidth; i < length; i += kTeamLanes * kWidth) {
    Wide w;
    LoadWide(a.at[k].data, a.of[k], first + i, &w);
    for (int j = 0; j < kWidth; ++j) w.v[j] = make(i + j, w.v[j]);
    StoreWide(a.at[0].data, a.of[0], first + i, w);
  }
}

// Places: result, x. Reduces `length` elements at `inside`, from where `outside` says.
struct ReduceArgs : Args<2> {
  Axes outside, inside;
  Strides out_strides, in_strides;
  int64_t length = 0;
  Reduce reduce = Reduce::kSum;
  bool rows = false;  // elements lie side by side, from multiples of `length` on
};

struct Add {
  template <class T>
  GE_GPU_BODY T operator()(T x, T y) const {
    return x + y;
  }
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
  const int64_t from = PlaceOf(a.outside, a.out_strides, row);
  typename Team::template PerLane<float> part;
  team.Each([&](int lane) {
    float v = FirstOf(a.reduce);
    if (a.rows) {
      EachOfRow(a, 1, from, a.length, lane, [&](int64_t, float x) { v = Joined(a.reduce, v, x); });
    } else {
      for (int64_t i = lane; i < a.length; i += kTeamLanes) {
        v = Joined(a.reduce, v, a.Float(1, from + PlaceOf(a.inside, a.in_strides, i)));
      }
    }
    part[lane] = v;
  });
  const float total = Finished(a, team.All(part, Join{a.reduce}));
  team.Each([&](int lane) {
    if (lane == 0) a.Store(0, row, total);
  });
}

// As ReduceTeam, in sums of 32 elements each, so that long columns keep their digits.
GE_GPU_BODY void ReduceThread(const ReduceArgs& a, int64_t row) {
  constexpr int64_t kPiece = 32;
  const int64_t from = PlaceOf(a.outside, a.out_strides, row);
  float total = FirstOf(a.reduce);
  for (int64_t first = 0; first < a.length; first += kPiece) {
    const int64_t end = first + kPiece < a.length ? first + kPiece : a.length;
    float v = FirstOf(a.reduce);
    for (int64_t i = first; i < end; ++i) {
      v = Joined(a.reduce, v, a.Float(1, from + PlaceOf(a.inside, a.in_strides, i)));
    }
    total = Joined(a.reduce, total, v);
  }
  a.Store(0, row, Finished(a, total));
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
  const int64_t first = row * a.length;
  typename Team::template PerLane<float> part;
  team.Each([&](int lane) {
    float v = -INFINITY;
    EachOfRow(a, 1, first, a.length, lane, [&](int64_t, float x) { v = Greater(v, x); });
    part[lane] = v;
  });
  const float most = team.All(part, Most());
  team.Each([&](int lane) {
    float v = 0;
    EachOfRow(a, 1, first, a.length, lane, [&](int64_t, float x) { v += expf(x - most); });
    part[lane] = v;
  });
  const float sum = team.All(part, Add());
  team.Each([&](int lane) {
    MapRow(a, 1, first, a.length, lane,
           [&](int64_t, float x) { return SoftmaxOf(a, x, most, sum); });
  });
}

GE_GPU_BODY void SoftmaxThread(const SoftmaxArgs& a, int64_t column) {
  const auto n = static_cast<uint64_t>(column);
  const uint64_t outer = a.stride.Quotient(n), inner = n - outer * a.stride.divisor;
  const auto step = static_cast<int64_t>(a.stride.divisor);
  const int64_t first = static_cast<int64_t>(outer) * a.length * step + static_cast<int64_t>(inner);
  float most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < a.length; ++i) most = Greater(most, a.Float(1, first + i * step));
  for (int64_t i = 0; i < a.length; ++i) sum += expf(a.Float(1, first + i * step) - most);
  for (int64_t i = 0; i < a.length; ++i) {
    const int64_t at = first + i * step;
    a.Store(0, at, SoftmaxOf(a, a.Float(1, at), most, sum));
  }
}

// Places: result, x, scale, bias. Rows are whole, or those of a channel, which has one scale and
// one bias.
struct NormArgs : Args<4> {
  int64_t length = 0;
  float eps = 0;
  bool centered = true, scaled = false, biased = false;
  Divider channels;  // of an image
  bool by_channel = false;
};

template <class Team>
GE_GPU_BODY void NormTeam(const NormArgs& a, int64_t row, const Team& team) {
  const int64_t first = row * a.length;
  typename Team::template PerLane<float> part;
  float mean = 0;
  if (a.centered) {
    team.Each([&](int lane) {
      float v = 0;
      EachOfRow(a, 1, first, a.length, lane, [&](int64_t, float x) { v += x; });
      part[lane] = v;
    });
    mean = team.All(part, Add()) / static_cast<float>(a.length);
  }
  team.Each([&](int lane) {
    float v = 0;
    EachOfRow(a, 1, first, a.length, lane, [&](int64_t, float x) { v += (x - mean) * (x - mean); });
    part[lane] = v;
  });
  const float square = team.All(part, Add()) / static_cast<float>(a.length);
  const float factor = 1.0f / sqrtf(square + a.eps);
  const auto n = static_cast<uint64_t>(row);
  const auto channel = static_cast<int64_t>(n - a.channels.Quotient(n) * a.channels.divisor);
  team.Each([&](int lane) {
    MapRow(a, 1, first, a.length, lane, [&](int64_t i, float x) {
      const int64_t at = a.by_channel ? channel : i;
      const float scale = a.scaled ? a.Float(2, at) : 1.0f;
      const float bias = a.biased ? a.Float(3, at) : 0.0f;
      return (x - mean) * factor * scale + bias;
    });
  });
}

}  // namespace ge_engines::gpu
