// The kernels of the device, made of kernels.def.
#include "plugins/gpu/kernels/bodies.h"

namespace ge_engines::gpu {

#define GE_GPU_THREAD(name, args, body)                                                            \
  extern "C" __global__ void __launch_bounds__(256, 1) ge_##name(const __grid_constant__ args a) { \
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;                             \
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;                       \
    for (; i < a.head.work; i += step) body(a, i);                                                 \
  }
#define GE_GPU_TEAM(name, args, body)                                                       \
  extern "C" __global__ void __launch_bounds__(kTeamLanes)                                  \
      ge_##name(const __grid_constant__ args a) {                                           \
    const DeviceTeam team;                                                                  \
    for (int64_t row = blockIdx.x; row < a.head.work; row += gridDim.x) body(a, row, team); \
  }
#include "plugins/gpu/kernels/kernels.def"

}  // namespace ge_engines::gpu
