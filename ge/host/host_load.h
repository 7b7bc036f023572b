// Detects load by others, which makes measurements doubtful: factors of up to 33 came out of a
// first calibration beside a busy neighbour, and a net was six times slower until the next session.
// Any thread may call.
//
// GE_PROBE=quiet and GE_PROBE=busy say it instead, for tests; with GE_PROBE=fixed nothing of the
// host counts, and it is quiet. Then samples that disagree are no sign of load either.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ge/host/probe.h"

namespace ge {

// Null where GE_PROBE does not say.
std::optional<bool> BusyAsSaid();

// ns of a clock that never steps back, and processor time of the calling thread in ns.
struct LoadClocks {
  std::function<double()> wall_ns, thread_ns;
};
LoadClocks SystemLoadClocks();

// Computes for some milliseconds on every thread and compares processor time with wall time: busy
// where one thread lost a tenth of it, or where the threads did not run side by side.
bool IsBusyNow(uint32_t threads, ParallelForFn parallel_for,
               const LoadClocks& clocks = SystemLoadClocks());

// Whether this process was driven off its processors since the watch was made: counts how often the
// system took one away, against the processor time used.
class LoadWatch {
 public:
  LoadWatch();
  bool Busy() const;
  // The rule: involuntary context switches in so much processor time.
  static bool IsBusy(uint64_t switches, double cpu_s);

 private:
  uint64_t switches_ = 0;
  double cpu_s_ = 0;
};

}  // namespace ge
