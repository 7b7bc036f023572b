// Stamps: times taken by streams, over timed events, on the host's clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/device/device.h"
#include "plugins/device/memory.h"
#include "plugins/device/timeline.h"

namespace ge_engines::device {

// Brings a device's times onto the host's clock: a timed event whose time on the host is known. It
// is recorded anew when it is old, since drivers tell elapsed times with few digits.
class HostClock {
 public:
  HostClock(OwnStream* stream, const ge_host_api* host) : stream_(*stream), host_(host) {}
  ~HostClock();
  // The host's time at which a timed event of the device passed.
  ge_rc TimeOf(EventHandle event, int64_t* ns, ge_err* err);

 private:
  ge_rc Set(ge_err* err);
  int64_t Now() const;
  OwnStream& stream_;
  const ge_host_api* host_;
  std::mutex mutex_;
  EventHandle zero_ = EventHandle::kNone;
  int64_t zero_ns_ = 0;  // on the host's clock
};

}  // namespace ge_engines::device

struct ge_stamps {
 public:
  ge_stamps(ge_engines::device::Device* device, ge_engines::device::HostClock* clock)
      : device_(*device), clock_(*clock) {}
  ~ge_stamps();
  ge_stamps(const ge_stamps&) = delete;
  ge_engines::device::Device& device() const { return device_; }

  ge_rc Make(uint32_t n, ge_err* err);
  ge_rc Take(ge_stream* stream, uint32_t index, ge_err* err);
  ge_rc Read(uint32_t first, uint32_t n, uint64_t* ns, ge_err* err);

 private:
  struct Stamp {
    ge_engines::device::EventHandle event;
    bool taken;
  };
  ge_engines::device::Device& device_;
  ge_engines::device::HostClock& clock_;
  std::vector<Stamp> stamps_;
};
