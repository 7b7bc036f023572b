// Captures: calls with some streams of a device, recorded in place of being queued, and launched as
// one. Signals and waits inside become binary events of the capture; timelines do not move.
// A capture is recorded by one thread, and launched by any, one launch at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/device/device.h"
#include "plugins/device/timeline.h"

struct ge_capture {
 public:
  explicit ge_capture(ge_engines::device::Device* device) : device_(*device) {}
  ~ge_capture();
  ge_capture(const ge_capture&) = delete;
  ge_engines::device::Device& device() const { return device_; }

  // ---- while it is recorded
  ge_rc Begin(ge_stream* const* stream, uint32_t n, ge_err* err);
  // Ends it, whatever happened, and answers the first failure.
  ge_rc End(ge_err* err);
  ge_rc Signal(ge_stream* stream, const ge_event* event, uint64_t value, ge_err* err);
  ge_rc Wait(ge_stream* stream, const ge_event* event, uint64_t value, ge_err* err);
  // For work of a stream: GE_FAILED_PRECONDITION where it is not recorded yet.
  ge_rc Joined(const ge_stream* stream, ge_err* err);
  // Keeps the first failure of a call inside; answers it.
  ge_rc Spoil(ge_rc rc, ge_err* err);

  // ---- afterwards
  ge_rc Launch(ge_stream* stream, ge_err* err);

 private:
  struct Signalled {
    const ge_event* event;
    uint64_t value;
    ge_engines::device::EventHandle binary;
    const ge_stream* stream;
  };
  ge_engines::device::Device& device_;
  ge_engines::device::GraphHandle graph_ = ge_engines::device::GraphHandle::kNone;
  std::vector<ge_stream*> streams_;  // [0]: the origin
  std::vector<Signalled> signals_;   // in the order of the calls
  ge_err error_ = {};                // code 0: none
};
