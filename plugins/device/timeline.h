// Timelines over a driver's binary events, and streams. A timeline counts up: each signal records
// a binary event of the timeline's pool, and a wait takes the event of the first signal that
// reaches its value. A binary event is recorded again only when it is known to have passed.
// The host serialises the calls with a stream; those with a timeline come from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/device/device.h"

struct ge_stream {
  ge_stream(ge_engines::device::Device* of, ge_engines::device::StreamHandle made)
      : device(*of), handle(made) {}
  ge_engines::device::Device& device;
  const ge_engines::device::StreamHandle handle;
  // While it is captured: the capture, and whether its work is recorded yet. The origin's is from
  // the begin on, another stream's from its first wait for a signal inside.
  ge_capture* capture = nullptr;
  bool joined = false;
};

struct ge_event {
 public:
  explicit ge_event(ge_engines::device::Device* device) : device_(*device) {}
  ~ge_event();
  ge_event(const ge_event&) = delete;
  ge_engines::device::Device& device() const { return device_; }

  ge_rc Signal(ge_stream* stream, uint64_t value, ge_err* err);
  // GE_FAILED_PRECONDITION where no signal so far reaches the value.
  ge_rc StreamWait(ge_stream* stream, uint64_t value, ge_err* err);
  // GE_PENDING in time, also where the device never answers, or nobody signals.
  ge_rc Wait(uint64_t value, uint64_t timeout_ns, ge_err* err);
  // Whether the host has seen it reach the value.
  bool Reached(uint64_t value);

 private:
  struct Signalled {
    uint64_t value;
    ge_engines::device::EventHandle event;
    const ge_stream* stream;
    bool passed;
  };
  // The first signal that reaches `value`; nullptr: there is none.
  Signalled* Find(uint64_t value);
  // It has passed, and with it all that its stream signalled before.
  void Pass(Signalled* signal);
  ge_engines::device::Result Ask(uint64_t value);
  // One that may be recorded.
  ge_engines::device::Result TakeEvent(ge_engines::device::EventHandle* event);

  ge_engines::device::Device& device_;
  std::mutex mutex_;
  uint64_t last_ = 0;               // signalled
  uint64_t reached_ = 0;            // seen by the host
  std::vector<Signalled> signals_;  // ascending; the oldest has not passed, as far as is known
  std::vector<ge_engines::device::EventHandle> spare_;
};
