// The kernels of plugins/gpu on the host: the same bodies, thread after thread. Any thread may run
// one.
#pragma once

#include <cstdint>
#include <string_view>

namespace ge_engines::gpu::sim {

struct HostKernel {
  const char* name;
  uint32_t bytes;                 // of its arguments
  bool (*run)(const void* args);  // all of its grid; false where a body refused what it read
};

// nullptr: there is none of this name.
const HostKernel* FindKernel(std::string_view name);

}  // namespace ge_engines::gpu::sim
