// Kernels by number and name, as kernels.def lists them.
#pragma once

#include <cstdint>

namespace ge_engines::gpu {

enum class KernelId : uint32_t {
#define GE_GPU_THREAD(name, args, body) name,
#define GE_GPU_TEAM(name, args, body) name,
#include "plugins/gpu/kernels/kernels.def"
#undef GE_GPU_THREAD
#undef GE_GPU_TEAM
  kCount,
};
inline constexpr uint32_t kKernelCount = static_cast<uint32_t>(KernelId::kCount);

// As the device's loader knows them.
inline constexpr const char* kKernelNames[] = {
#define GE_GPU_THREAD(name, args, body) "ge_" #name,
#define GE_GPU_TEAM(name, args, body) "ge_" #name,
#include "plugins/gpu/kernels/kernels.def"
#undef GE_GPU_THREAD
#undef GE_GPU_TEAM
};

// Of each: whether a team of threads shares a row.
inline constexpr bool kKernelTeams[] = {
#define GE_GPU_THREAD(name, args, body) false,
#define GE_GPU_TEAM(name, args, body) true,
#include "plugins/gpu/kernels/kernels.def"
#undef GE_GPU_THREAD
#undef GE_GPU_TEAM
};

}  // namespace ge_engines::gpu
