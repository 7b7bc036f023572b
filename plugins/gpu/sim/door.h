// Door: how the other simulated libraries of the vendor's, cuBLASLt and cuDNN, reach the devices
// behind the simulated libcuda.so.1. They find it in the libcuda.so.1 that the process has opened.
// It lives as long as the process; any thread may call. All of them are of one build: this is no
// interface for anybody else. Its options stand in the environment variable GE_SIM_LIBRARIES:
//   fail=FUNCTION:K:STATUS  the K-th call of a library's FUNCTION, or of `any`, answers STATUS, a
//                           number of that library's
//   calls=FILE              when the process ends, the number of calls that may fail is written
//                           there, and a line of each function
// With another option every call fails.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <vector>

#include "plugins/device/sim/simulator.h"
#include "plugins/gpu/vendor/cuda.h"

namespace ge_engines::gpu::sim {

class Door {
 public:
  // That of the context that is current in this thread; -1: none is.
  virtual int Device() = 0;
  // Runs `body` on a stream as work that reads and writes these ranges, once for each launch: in
  // a capture it is kept, and runs when the graph does. A range that leaves its block, bytes that
  // nobody wrote and a race fail the call, as with a kernel. What `body` holds must be its own:
  // handles may be gone when it runs.
  virtual cuda::Status Launch(cuda::Stream stream, const char* name,
                              std::vector<device::sim::Range> reads,
                              std::vector<device::sim::Range> writes,
                              std::function<void()> body) = 0;
  // Every function that may fail asks first: the status that it must answer, doing nothing else;
  // 0: it goes on.
  virtual int Planted(const char* function) = 0;

 protected:
  ~Door() = default;
};

// nullptr: the process has opened no simulated libcuda.so.1.
inline Door* FindDoor() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  const auto get = reinterpret_cast<Door* (*)()>(dlsym(driver, "ge_sim_door"));
  (void)dlclose(driver);  // whoever opened it keeps it
  return get == nullptr ? nullptr : get();
}

}  // namespace ge_engines::gpu::sim
