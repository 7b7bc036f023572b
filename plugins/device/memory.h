// Blocks of a device's memory and of page-locked host memory, and copies between them and the
// host's memory. Any thread may call.
#pragma once

#include <cstdint>
#include <mutex>

#include "ge/ge_plugin.h"
#include "plugins/device/device.h"

struct ge_mem {
  ge_engines::device::Device* device = nullptr;
  ge_engines::device::Home home = ge_engines::device::Home::kDevice;
  void* block = nullptr;    // the driver's
  char* address = nullptr;  // aligned, inside of it
  uint64_t bytes = 0;       // from there
  uint64_t taken = 0;       // of the device's limit
};

namespace ge_engines::device {

ge_rc AllocBlock(Device* device, Home home, uint64_t bytes, uint64_t align, ge_mem** out,
                 void** address, ge_err* err);
void FreeBlock(ge_mem* mem);

// Empty, or why [ptr, ptr + bytes) does not lie in its block.
const char* FaultOf(const ge_buf& buf);

// A stream of the engine's own, for work that its caller waits for. One piece of work at a time.
class OwnStream {
 public:
  explicit OwnStream(Device* device) : device_(*device) {}
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  // queue(StreamHandle) -> Result; then waits until it is done. A device that does not answer
  // within its time limit is lost. GE_DEADLINE where `longest_ns` is over first, and the work may
  // still run: it uses nothing that its caller frees.
  template <class Queue>
  ge_rc Run(const char* what, ge_err* err, const Queue& queue, uint64_t longest_ns = UINT64_MAX) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ge_rc rc = Open(what, err);
    if (rc == GE_OK) rc = device_.Answer(queue(stream_), what, UINT32_MAX, err);
    return rc == GE_OK ? Finish(what, longest_ns, err) : rc;
  }
  Device& device() const { return device_; }

 private:
  ge_rc Open(const char* what, ge_err* err);
  ge_rc Finish(const char* what, uint64_t longest_ns, ge_err* err);
  Device& device_;
  std::mutex mutex_;
  StreamHandle stream_ = StreamHandle::kNone;
  EventHandle event_ = EventHandle::kNone;
};

// A copy whose buffers are checked: which way it goes, and its addresses.
struct CheckedCopy {
  void* to = nullptr;
  const void* from = nullptr;
  uint64_t bytes = 0;
  Device *to_device = nullptr, *from_device = nullptr;  // nullptr: the host's memory, pinned or not
};
ge_rc CheckCopy(const ge_copy& copy, const char* engine, CheckedCopy* out, ge_err* err);
// Queues it on a stream of one of its devices.
Result QueueCopy(const CheckedCopy& copy, Device* device, StreamHandle stream);

}  // namespace ge_engines::device
