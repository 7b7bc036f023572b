// Machine: the simulated devices of a process, behind every function that the simulated libraries
// export. Its options stand in the environment variable GE_SIM_CUDA, as pairs of a list of options;
// beside those of ../../device/sim/options.h:
//   devices=N          how many there are (1)
//   driver=N           the version that the driver tells (13000)
//   bytes=N            memory of each (80 GiB)
//   calls=FILE         when the process ends, the number of driver calls is written there, and a
//                      line of each kind of them
//   reports=FILE       findings are appended there when the process ends, leaks among them
// A finding of the simulator fails the call that is running, so that no test passes over one.
// With a wrong option cuInit fails, and says which. Any thread may call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/device/sim/options.h"
#include "plugins/device/sim/simulator.h"
#include "plugins/gpu/vendor/cuda.h"

namespace ge_engines::gpu::sim {

namespace simulated = ge_engines::device::sim;

class Machine {
 public:
  static Machine& Get();
  ~Machine();

  simulated::Simulator& simulator() { return *simulator_; }
  int devices() const { return simulator_->device_count(); }
  int driver() const { return driver_; }
  size_t bytes() const { return bytes_; }
  // A status of the driver interface; that of a failed launch where there are findings.
  cuda::Status Of(simulated::Code code);
  bool usable() const { return wrong_.empty(); }  // its options are understood
  // What the simulator found first, or why the options are wrong; empty: nothing.
  std::string Found() const;
  // Runs `body` on a stream as work that touches these ranges; it is false where the work fails.
  cuda::Status Launch(cuda::Stream stream, const char* name, std::vector<simulated::Range> reads,
                      std::vector<simulated::Range> writes, std::function<bool()> body);

  // ---- contexts, one a device
  std::mutex& mutex() { return mutex_; }  // of what follows
  std::vector<int>& retained() { return retained_; }
  std::map<uint64_t, int>& streams() { return streams_; }  // and their devices
  std::map<uint64_t, bool>& timed_events() { return events_; }

 private:
  Machine();
  void Read(const std::string& options);
  void Tell();
  std::unique_ptr<simulated::Simulator> simulator_;
  std::mutex mutex_;
  std::vector<int> retained_;
  std::map<uint64_t, int> streams_;
  std::map<uint64_t, bool> events_;
  std::string calls_, reports_, wrong_;
  int driver_ = cuda::kLeastDriver;
  size_t bytes_ = size_t{80} << 30;
};

}  // namespace ge_engines::gpu::sim
