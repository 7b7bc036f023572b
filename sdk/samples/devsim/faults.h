// Faults: what goes wrong on the simulated devices, as options fail_at, late_at, lost_at and
// hang_at ask. Work is counted over all devices of the engine. A lost device answers GE_DEVICE_LOST
// to all that is asked of it; one that hangs takes calls and never answers for their work.
// Thread-safe.
#ifndef GE_SAMPLES_DEVSIM_FAULTS_H_
#define GE_SAMPLES_DEVSIM_FAULTS_H_

#include <atomic>
#include <cstdint>

#include "ge/ge_plugin.h"
#include "options.h"

namespace devsim {

class Faults {
 public:
  // Before a launch or copy on `device`, on a stream or while the host waits for it. On a stream it
  // never returns where the device hangs.
  ge_rc OnWork(const Options& options, uint32_t device, bool on_stream, ge_err* err);
  // Before anything else that a stream of `device` does, and at calls: GE_DEVICE_LOST, or GE_OK.
  ge_rc OnDevice(uint32_t device, ge_err* err) const;
  // Returns unless `device` hangs.
  void MayHang(uint32_t device) const;

 private:
  std::atomic<uint64_t> work_{0};  // launches and copies begun
  std::atomic<bool> lost_[kMostDevices] = {}, hangs_[kMostDevices] = {};
};

}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_FAULTS_H_
