#include "plugins/gpu/sim/kernel_table.h"

#include <utility>

#include "plugins/gpu/kernels/bodies.h"

namespace ge_engines::gpu::sim {
namespace {

#define GE_GPU_THREAD(name, args, body)                    \
  {"ge_" #name, sizeof(args), [](const void* given) {      \
     const auto& a = *static_cast<const args*>(given);     \
     for (int64_t i = 0; i < a.head.work; ++i) body(a, i); \
     return !std::exchange(Refused(), false);              \
   }},
#define GE_GPU_TEAM(name, args, body)                                    \
  {"ge_" #name, sizeof(args), [](const void* given) {                    \
     const auto& a = *static_cast<const args*>(given);                   \
     const HostTeam team;                                                \
     for (int64_t row = 0; row < a.head.work; ++row) body(a, row, team); \
     return !std::exchange(Refused(), false);                            \
   }},
constexpr HostKernel kKernels[] = {
#include "plugins/gpu/kernels/kernels.def"
};
#undef GE_GPU_THREAD
#undef GE_GPU_TEAM

}  // namespace

const HostKernel* FindKernel(std::string_view name) {
  for (const HostKernel& kernel : kKernels) {
    if (name == kernel.name) return &kernel;
  }
  return nullptr;
}

}  // namespace ge_engines::gpu::sim
