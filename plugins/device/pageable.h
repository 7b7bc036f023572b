// For drivers whose vendor copies on streams between page-locked memory and a device's alone: where
// an address lies, and copies of other memory, which wait for their stream.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "plugins/device/device.h"

namespace ge_engines::device {

// The blocks of a driver, by address. Any thread may call.
class Blocks {
 public:
  void Keep(void* block, uint64_t bytes, Home home);
  void Forget(void* block);
  // nullopt: in no block, so that it is pageable memory.
  std::optional<Home> HomeOf(const void* address) const;

 private:
  struct Block {
    uintptr_t end;
    Home home;
  };
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Block> blocks_;  // by their begin
};

// Waits until the stream has done what is queued on it, then copy() -> Result. kLost where it does
// not answer within the time that a device has for anything.
template <class Copy>
Result AfterStream(Driver* driver, int device, StreamHandle stream, const Copy& copy) {
  EventHandle event = EventHandle::kNone;
  Result r = driver->EventCreate(device, false, &event);
  if (!r.ok()) return r;
  r = driver->EventRecord(device, event, stream);
  for (Pause pause(*driver, Rates().timeout_ns); r.ok();) {
    r = driver->EventQuery(device, event);
    if (r.outcome != Outcome::kNotReady) break;
    r = pause.Once() ? Result() : Result{Outcome::kLost, r.vendor_code};
  }
  driver->EventDestroy(device, event);
  return r.ok() ? copy() : r;
}

}  // namespace ge_engines::device
