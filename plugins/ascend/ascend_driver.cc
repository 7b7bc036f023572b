#include "plugins/ascend/ascend_driver.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ge_engines::ascend {
namespace {

template <class To, class From>
To Handle(From from) {
  return static_cast<To>(reinterpret_cast<uintptr_t>(from));
}
void* Of(StreamHandle stream) { return reinterpret_cast<void*>(stream); }
void* Of(EventHandle event) { return reinterpret_cast<void*>(event); }

}  // namespace

std::string AscendDriver::ErrorText(Result result) {
  if (result.vendor_code == kNotStarted) return api_.why();
  const acl::Functions& f = api_.f();
  const char* text = f.aclGetRecentErrMsg == nullptr ? nullptr : f.aclGetRecentErrMsg();
  const std::string code = "AscendCL answers " + std::to_string(result.vendor_code);
  return text == nullptr || *text == 0 ? code : code + ": " + text;
}

// ---- devices -----------------------------------------------------------------------------------

Result AscendDriver::Count(int* devices) {
  if (!api_.Start(devices)) return {Outcome::kUnsupported, kNotStarted};
  contexts_.resize(static_cast<size_t>(*devices));
  return Result();
}

Result AscendDriver::Describe(int device, device::DeviceFacts* facts) {
  // How much memory it has is told to a context alone: one for this question.
  if (const Result r = Open(device); !r.ok()) return r;
  size_t left = 0, all = 0;
  const Result r = Do(device, api_.f().aclrtGetMemInfo, acl::kHbm, &left, &all);
  Close(device);
  if (!r.ok()) return r;
  facts->name = api_.name() + ":" + std::to_string(device);
  std::memcpy(facts->uuid, api_.name().data(), std::min<size_t>(api_.name().size(), 12));
  facts->uuid[15] = static_cast<uint8_t>(device);
  facts->memory_bytes = all;
  facts->block_align = 512;
  facts->address_align = 1;  // nobody says what it is
  facts->most_streams = 8;
  facts->captures = false;
  return Result();
}

Result AscendDriver::Open(int device) {
  const acl::Functions& f = api_.f();
  acl::Context before = nullptr;
  if (f.aclrtGetCurrentContext(&before) != acl::kSuccess) before = nullptr;
  const acl::Status s = f.aclrtCreateContext(&contexts_[static_cast<size_t>(device)], device);
  if (before != nullptr) (void)f.aclrtSetCurrentContext(before);  // the new one was current
  return ResultOf(s);
}

void AscendDriver::Close(int device) {
  acl::Context& context = contexts_[static_cast<size_t>(device)];
  if (context == nullptr) return;
  (void)Do(device, api_.f().aclrtSynchronizeDevice);
  (void)api_.f().aclrtDestroyContext(context);
  context = nullptr;
}

Result AscendDriver::OpenPeer(int device, int other) {
  const acl::Functions& f = api_.f();
  if (f.aclrtDeviceCanAccessPeer == nullptr || f.aclrtDeviceEnablePeerAccess == nullptr) {
    return ResultOf(acl::kNotSupported);
  }
  return Within(device, [&] {
    int32_t can = 0;
    const acl::Status s = f.aclrtDeviceCanAccessPeer(&can, device, other);
    if (s != acl::kSuccess) return s;
    return can == 0 ? acl::kNotSupported : f.aclrtDeviceEnablePeerAccess(other, 0);
  });
}

// ---- memory ------------------------------------------------------------------------------------

Result AscendDriver::Alloc(int device, uint64_t bytes, void** block) {
  // Operators may touch this much behind their tensors.
  constexpr uint64_t kBehind = 32;
  const Result r = Do(device, api_.f().aclrtMalloc, block, bytes + kBehind, acl::kHugeFirst);
  if (r.ok()) blocks_.Keep(*block, bytes, device::Home::kDevice);
  return r;
}

void AscendDriver::Free(int device, void* block) {
  blocks_.Forget(block);
  (void)Do(device, api_.f().aclrtFree, block);
}

Result AscendDriver::PinnedAlloc(int device, uint64_t bytes, void** block) {
  const Result r = Do(device, api_.f().aclrtMallocHost, block, bytes);
  if (r.ok()) blocks_.Keep(*block, bytes, device::Home::kPinned);
  return r;
}

void AscendDriver::PinnedFree(int device, void* block) {
  blocks_.Forget(block);
  (void)Do(device, api_.f().aclrtFreeHost, block);
}

// ---- streams and events ------------------------------------------------------------------------

Result AscendDriver::StreamCreate(int device, StreamHandle* stream) {
  acl::Stream made = nullptr;
  const Result r = Do(device, api_.f().aclrtCreateStream, &made);
  if (r.ok()) *stream = Handle<StreamHandle>(made);
  return r;
}

void AscendDriver::StreamDestroy(int device, StreamHandle stream) {
  (void)Do(device, api_.f().aclrtDestroyStream, Of(stream));
}

Result AscendDriver::StreamWait(int device, StreamHandle stream, EventHandle event) {
  return Do(device, api_.f().aclrtStreamWaitEvent, Of(stream), Of(event));
}

Result AscendDriver::EventCreate(int device, bool timed, EventHandle* event) {
  const acl::Functions& f = api_.f();
  if (timed && !api_.times()) return ResultOf(acl::kNotSupported);
  acl::Event made = nullptr;
  const Result r = Within(device, [&] {
    return timed ? f.aclrtCreateEventWithFlag(&made, acl::kEventDefault)
                 : f.aclrtCreateEventExWithFlag(&made, acl::kEventSync);
  });
  if (!r.ok()) return r;
  *event = Handle<EventHandle>(made);
  if (timed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    timed_[*event] = false;
  }
  return r;
}

void AscendDriver::EventDestroy(int device, EventHandle event) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    timed_.erase(event);
  }
  (void)Do(device, api_.f().aclrtDestroyEvent, Of(event));
}

Result AscendDriver::EventRecord(int device, EventHandle event, StreamHandle stream) {
  bool again = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto timed = timed_.find(event);
    if (timed != timed_.end()) again = std::exchange(timed->second, true);
  }
  return Within(device, [&] {
    const acl::Status s = again ? api_.f().aclrtResetEvent(Of(event), Of(stream)) : acl::kSuccess;
    return s == acl::kSuccess ? api_.f().aclrtRecordEvent(Of(event), Of(stream)) : s;
  });
}

Result AscendDriver::EventQuery(int device, EventHandle event) {
  acl::EventStatus status = acl::kEventNotReady;
  const Result r = Do(device, api_.f().aclrtQueryEventStatus, Of(event), &status);
  if (r.ok() && status != acl::kEventComplete) return {Outcome::kNotReady, acl::kSuccess};
  return r;
}

Result AscendDriver::EventElapsed(int device, EventHandle from, EventHandle to, int64_t* ns) {
  float ms = 0;  // the vendor's unit
  const Result r = Do(device, api_.f().aclrtEventElapsedTime, &ms, Of(from), Of(to));
  if (r.ok()) *ns = static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  return r;
}

// ---- work --------------------------------------------------------------------------------------

Result AscendDriver::Copy(int device, StreamHandle stream, void* to, const void* from,
                          uint64_t bytes) {
  using device::Home;
  const std::optional<Home> target = blocks_.HomeOf(to), source = blocks_.HomeOf(from);
  const acl::CopyKind kind = acl::KindOf(target == Home::kDevice, source == Home::kDevice);
  if (target && source) {
    return Do(device, api_.f().aclrtMemcpyAsync, to, bytes, from, bytes, kind, Of(stream));
  }
  // Such copies on streams want page-locked memory, and others do not wait for streams.
  return device::AfterStream(this, device, stream, [&] {
    return Do(device, api_.f().aclrtMemcpy, to, bytes, from, bytes, kind);
  });
}

Result AscendDriver::PeerCopy(int device, StreamHandle stream, int, void* to, int, const void* from,
                              uint64_t bytes) {
  return Do(device, api_.f().aclrtMemcpyAsync, to, bytes, from, bytes, acl::kDeviceToDevice,
            Of(stream));
}

Result AscendDriver::Fill(int device, StreamHandle stream, void* to, uint8_t value,
                          uint64_t bytes) {
  return Do(device, api_.f().aclrtMemsetAsync, to, bytes, value, bytes, Of(stream));
}

}  // namespace ge_engines::ascend
