// Team: the threads that compute one row together, and their sums in an order that depends on the
// team's size alone. DeviceTeam is a block of the device; HostTeam goes through its lanes one after
// the other, so that both add up in the same order.
//
// A body is a sequence of Each, where lanes know nothing of each other, and of All, where they
// join.
#pragma once

#include "plugins/gpu/kernels/portable.h"

namespace ge_engines::gpu {

inline constexpr int kTeamLanes = 128;
inline constexpr int kWarpLanes = 32;

struct HostTeam {
  template <class T>
  struct PerLane {
    T lane[kTeamLanes];
    T& operator[](int l) { return lane[l]; }
  };
  // f(lane) for each.
  template <class F>
  void Each(const F& f) const {
    for (int l = 0; l < kTeamLanes; ++l) f(l);
  }
  // No lane goes on before all have come.
  void Join() const {}
  // op over all lanes: within warps from far to near, then warp after warp.
  template <class T, class Op>
  T All(PerLane<T>& x, const Op& op) const {
    T total = T();
    for (int w = 0; w < kTeamLanes; w += kWarpLanes) {
      for (int far = kWarpLanes / 2; far > 0; far /= 2) {
        for (int l = 0; l < far; ++l) x[w + l] = op(x[w + l], x[w + l + far]);
      }
      total = w == 0 ? x[0] : op(total, x[w]);
    }
    return total;
  }
};

#if defined(__CUDACC__)
struct DeviceTeam {
  template <class T>
  struct PerLane {
    T own;
    __device__ T& operator[](int) { return own; }
  };
  template <class F>
  __device__ void Each(const F& f) const {
    f(static_cast<int>(threadIdx.x));
  }
  __device__ void Join() const { __syncthreads(); }
  template <class T, class Op>
  __device__ T All(PerLane<T>& x, const Op& op) const {
    __shared__ T warps[kTeamLanes / kWarpLanes];
    T v = x.own;
    for (int far = kWarpLanes / 2; far > 0; far /= 2) {
      v = op(v, __shfl_down_sync(0xffffffffu, v, far));
    }
    __syncthreads();  // the result before is read
    if (threadIdx.x % kWarpLanes == 0) warps[threadIdx.x / kWarpLanes] = v;
    __syncthreads();
    T total = warps[0];
    for (int w = 1; w < kTeamLanes / kWarpLanes; ++w) total = op(total, warps[w]);
    return total;
  }
};
#endif

}  // namespace ge_engines::gpu
