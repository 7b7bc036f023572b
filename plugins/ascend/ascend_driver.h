// AscendDriver: plugins/device's driver over the vendor's runtime. It opens libascendcl.so and
// initializes it at Count, which is the making of an engine, and makes a device's context at Open,
// which is the first compile. Any thread may call; each call makes a context of our own current and
// puts back the thread's.
//
// The runtime is initialized once a process and never finished by us: somebody else may use it, and
// a second start after a finish is nowhere said to work.
// Copies on streams want page-locked memory: one of other memory of the host waits for its stream.
#pragma once

#include <map>
#include <shared_mutex>
#include <string>
#include <vector>

#include "plugins/ascend/api/api.h"
#include "plugins/device/driver.h"

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
  // It has no kernels of its own: kUnsupported. So are captures.
  Result Launch(int device, StreamHandle stream, const device::KernelLaunch& launch) override;
  Result CaptureBegin(int device, StreamHandle origin) override;
  Result CaptureEnd(int device, StreamHandle origin, GraphHandle* graph) override;
  Result GraphLaunch(int device, GraphHandle graph, StreamHandle stream) override;
  void GraphDestroy(int device, GraphHandle graph) override;
  std::string ErrorText(Result result) override;

  // ---- for the engine; the runtime is open
  const Api& api() const { return api_; }
  const std::string& chip() const { return chip_; }  // the vendor's name of it
  // Calls use() -> acl::Status with the device's context current.
  template <class Use>
  Result Within(int device, const Use& use) const {
    const Current current(*this, devices_[static_cast<size_t>(device)].context);
    return ResultOf(current.status() == acl::kSuccess ? use() : current.status());
  }
  static Result ResultOf(acl::Status status);

 private:
  // What the runtime cannot say. They are no status of it.
  enum State : int32_t { kNoLibrary = -1, kNoSymbol = -2, kNotInitialized = -3, kNoDevice = -4 };
  struct Opened {
    acl::Context context = nullptr;
  };
  class Current {
   public:
    Current(const AscendDriver& driver, acl::Context context);
    ~Current();
    Current(const Current&) = delete;
    acl::Status status() const { return status_; }

   private:
    const AscendDriver& driver_;
    acl::Context before_ = nullptr;
    acl::Status status_;
  };
  struct Block {
    uintptr_t end = 0;
    bool pinned = false;  // else a device's
  };
  const Block* BlockOf(const void* address) const;  // under mutex_; nullptr: pageable memory
  void Keep(void* block, uint64_t bytes, bool pinned);
  void Forget(void* block);
  acl::Status CopyAtOnce(acl::Stream stream, void* to, const void* from, uint64_t bytes,
                         acl::CopyKind kind) const;

  Api api_;
  std::string chip_;
  acl::Status refused_ = acl::kSuccess;  // by the initialization
  std::vector<Opened> devices_;          // by number; sized at Count, and never again
  mutable std::shared_mutex mutex_;      // of blocks_
  std::map<uintptr_t, Block> blocks_;    // of ours, by their begin
};

}  // namespace ge_engines::ascend
