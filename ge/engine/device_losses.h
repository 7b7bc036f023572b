// DeviceLosses: the devices of an engine that are lost, and why. They stay lost as long as an
// engine of the same plugin and options is open. It decides nothing: engine.h says what a loss
// is. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "ge/ge_plugin.h"

namespace ge {

class DeviceLosses {
 public:
  // False where the device was lost before.
  bool Add(uint32_t device, const std::string& why);
  bool Has(uint32_t device) const;
  // Set when the device is lost; it lives as long as the losses.
  const std::atomic<bool>* Flag(uint32_t device);
  std::map<uint32_t, std::string> All() const;  // why, by device
  // Losses of all engines of the process so far. One load: each run asks.
  static uint64_t Count();

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, std::string> why_;
  std::map<uint32_t, std::atomic<bool>> flag_;  // by device; of those that were asked for or lost
};

// Whether a new stream of the device does what it is told within a tenth of a second. One that does
// not is left as it is, since nobody may free what a device still uses.
bool DeviceAnswers(const ge_engine_api& api, ge_engine* engine, uint32_t device);

}  // namespace ge
