// AscendDriver: plugins/device's driver over the vendor's runtime. It starts that at Count, which
// is the making of an engine, and makes a device's context at Open, which is the first compile. Any
// thread may call; each call makes a context of our own current and puts back the thread's.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/ascend/api/api.h"
#include "plugins/ascend/api/status.h"
#include "plugins/device/pageable.h"

namespace ge_engines::ascend {

using device::EventHandle;
using device::GraphHandle;
using device::Outcome;
using device::Result;
using device::StreamHandle;

class AscendDriver final : public device::Driver {
 public:
  explicit AscendDriver(const std::string& libraries) : api_(libraries) {}

  Result Count(int* devices) override;
  Result Describe(int device, device::DeviceFacts* facts) override;
  Result Open(int device) override;
  void Close(int device) override;
  Result OpenPeer(int device, int other) override;
  Result Alloc(int device, uint64_t bytes, void** block) override;
  void Free(int device, void* block) override;
  Result PinnedAlloc(int device, uint64_t bytes, void** block) override;
  void PinnedFree(int device, void* block) override;
  Result StreamCreate(int device, StreamHandle* stream) override;
  void StreamDestroy(int device, StreamHandle stream) override;
  Result StreamWait(int device, StreamHandle stream, EventHandle event) override;
  Result EventCreate(int device, bool timed, EventHandle* event) override;
  void EventDestroy(int device, EventHandle event) override;
  Result EventRecord(int device, EventHandle event, StreamHandle stream) override;
  Result EventQuery(int device, EventHandle event) override;
  Result EventElapsed(int device, EventHandle from, EventHandle to, int64_t* ns) override;
  Result Copy(int device, StreamHandle stream, void* to, const void* from, uint64_t bytes) override;
  Result PeerCopy(int device, StreamHandle stream, int to_device, void* to, int from_device,
                  const void* from, uint64_t bytes) override;
  Result Fill(int device, StreamHandle stream, void* to, uint8_t value, uint64_t bytes) override;
  std::string ErrorText(Result result) override;

  // ---- for the engine; the runtime is open
  const Api& api() const { return api_; }
  // Calls use() -> acl::Status with the device's context current.
  template <class Use>
  Result Within(int device, const Use& use) const {
    const Current current(api_.f(), contexts_[static_cast<size_t>(device)]);
    return ResultOf(current.status() == acl::kSuccess ? use() : current.status());
  }

 private:
  template <class Function, class... A>
  Result Do(int device, Function function, A... arguments) const {
    return Within(device, [&] { return function(arguments...); });
  }
  static constexpr int32_t kNotStarted = -1;  // no status of the runtime's

  Api api_;
  std::vector<acl::Context> contexts_;  // by device; sized at Count, and never again
  device::Blocks blocks_;
  std::mutex mutex_;                   // of timed_
  std::map<EventHandle, bool> timed_;  // events with times, and whether they were recorded
};

}  // namespace ge_engines::ascend
