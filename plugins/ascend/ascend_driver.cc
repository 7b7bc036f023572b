#include "plugins/ascend/ascend_driver.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace ge_engines::ascend {
namespace {

using acl::Status;

constexpr auto kLongestWait = std::chrono::seconds(30);  // as device::Rates::timeout_ns

Outcome OutcomeOf(Status status) {
  switch (status) {
    case acl::kSuccess:
      return Outcome::kOk;
    case acl::kOutOfMemory:
    case acl::kNoEvents:
    case acl::kNoStreams:
      return Outcome::kOutOfMemory;
    case acl::kNotSupported:
      return Outcome::kUnsupported;
    case acl::kInvalidParameter:
    case acl::kUninitialized:
    case acl::kWrongParameter:
    case acl::kInvalidDevice:
    case acl::kNoContext:
    case acl::kOtherContext:
      return Outcome::kInvalid;
    case acl::kDeviceLost:
      return Outcome::kLost;
    // Others are of the device, or nobody can say of them.
    default:
      return Outcome::kFailed;
  }
}

std::string SmallLetters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

template <class To, class From>
To Handle(From from) {
  return static_cast<To>(reinterpret_cast<uintptr_t>(from));
}
void* Of(StreamHandle stream) { return reinterpret_cast<void*>(stream); }
void* Of(EventHandle event) { return reinterpret_cast<void*>(event); }

}  // namespace

AscendDriver::Current::Current(const AscendDriver& driver, acl::Context context) : driver_(driver) {
  const acl::Functions& f = driver.api_.f();
  // Without a context of the thread's the question fails.
  if (f.aclrtGetCurrentContext(&before_) != acl::kSuccess) before_ = nullptr;
  status_ = before_ == context ? acl::kSuccess : f.aclrtSetCurrentContext(context);
  if (before_ == context) before_ = nullptr;
}

AscendDriver::Current::~Current() {
  // Of a thread that had none ours stays current: there is no way to take it away.
  if (before_ != nullptr) (void)driver_.api_.f().aclrtSetCurrentContext(before_);
}

Result AscendDriver::ResultOf(Status status) {
  return {OutcomeOf(status), static_cast<int32_t>(status)};
}

std::string AscendDriver::ErrorText(Result result) {
  switch (result.vendor_code) {
    case kNoLibrary:
      return "there is no AscendCL: " + api_.why();
    case kNoSymbol:
      return "AscendCL is not one that the engine knows: " + api_.why();
    case kNotInitialized:
      return "AscendCL could not be initialized: it answers " + std::to_string(refused_);
    case kNoDevice:
      return "AscendCL finds no device";
    default:
      break;
  }
  const acl::Functions& f = api_.f();
  const char* text = f.aclGetRecentErrMsg == nullptr ? nullptr : f.aclGetRecentErrMsg();
  const std::string code = "AscendCL answers " + std::to_string(result.vendor_code);
  return text == nullptr || *text == 0 ? code : code + ": " + text;
}

// ---- devices -----------------------------------------------------------------------------------

Result AscendDriver::Count(int* devices) {
  switch (api_.Open()) {
    case Api::State::kNoLibrary:
      return {Outcome::kUnsupported, kNoLibrary};
    case Api::State::kNoSymbol:
      return {Outcome::kUnsupported, kNoSymbol};
    case Api::State::kOpen:
      break;
  }
  const acl::Functions& f = api_.f();
  refused_ = f.aclInit(nullptr);
  if (refused_ != acl::kSuccess && refused_ != acl::kRepeatInitialize) {
    return {Outcome::kUnsupported, kNotInitialized};
  }
  uint32_t count = 0;
  if (const Status s = f.aclrtGetDeviceCount(&count); s != acl::kSuccess) return ResultOf(s);
  if (count == 0) return {Outcome::kUnsupported, kNoDevice};
  devices_.resize(count);
  const char* chip = f.aclrtGetSocName();
  chip_ = chip == nullptr ? "" : chip;
  *devices = static_cast<int>(count);
  return Result();
}

Result AscendDriver::Describe(int device, device::DeviceFacts* facts) {
  // How much memory it has is told to a context alone: one for this question.
  if (const Result r = Open(device); !r.ok()) return r;
  size_t left = 0, all = 0;
  const Result r = Within(device, [&] { return api_.f().aclrtGetMemInfo(acl::kHbm, &left, &all); });
  Close(device);
  if (!r.ok()) return r;
  const std::string name = api_.simulated() || chip_.empty() ? "sim" : SmallLetters(chip_);
  facts->name = name + ":" + std::to_string(device);
  std::memcpy(facts->uuid, name.data(), std::min<size_t>(name.size(), 12));
  facts->uuid[15] = static_cast<uint8_t>(device);
  facts->memory_bytes = all;
  facts->block_align = 512;
  facts->most_streams = 8;
  facts->captures = false;
  return Result();
}

Result AscendDriver::Open(int device) {
  const acl::Functions& f = api_.f();
  acl::Context before = nullptr, made = nullptr;
  if (f.aclrtGetCurrentContext(&before) != acl::kSuccess) before = nullptr;
  const Status s = f.aclrtCreateContext(&made, device);  // and makes it current
  if (before != nullptr) (void)f.aclrtSetCurrentContext(before);
  if (s == acl::kSuccess) devices_[static_cast<size_t>(device)].context = made;
  return ResultOf(s);
}

void AscendDriver::Close(int device) {
  Opened& opened = devices_[static_cast<size_t>(device)];
  if (opened.context == nullptr) return;
  (void)Within(device, [&] { return api_.f().aclrtSynchronizeDevice(); });
  (void)api_.f().aclrtDestroyContext(opened.context);
  opened.context = nullptr;
}

Result AscendDriver::OpenPeer(int device, int other) {
  const acl::Functions& f = api_.f();
  if (f.aclrtDeviceCanAccessPeer == nullptr || f.aclrtDeviceEnablePeerAccess == nullptr) {
    return ResultOf(acl::kNotSupported);
  }
  return Within(device, [&] {
    int32_t can = 0;
    const Status s = f.aclrtDeviceCanAccessPeer(&can, device, other);
    if (s != acl::kSuccess) return s;
    return can == 0 ? acl::kNotSupported : f.aclrtDeviceEnablePeerAccess(other, 0);
  });
}

// ---- memory ------------------------------------------------------------------------------------

const AscendDriver::Block* AscendDriver::BlockOf(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto it = blocks_.upper_bound(at);
  if (it == blocks_.begin()) return nullptr;
  --it;
  return at < it->second.end ? &it->second : nullptr;
}

void AscendDriver::Keep(void* block, uint64_t bytes, bool pinned) {
  const auto begin = reinterpret_cast<uintptr_t>(block);
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  blocks_[begin] = {begin + bytes, pinned};
}

void AscendDriver::Forget(void* block) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  blocks_.erase(reinterpret_cast<uintptr_t>(block));
}

Result AscendDriver::Alloc(int device, uint64_t bytes, void** block) {
  // Operators may touch this much behind their tensors.
  constexpr uint64_t kBehind = 32;
  const Result r =
      Within(device, [&] { return api_.f().aclrtMalloc(block, bytes + kBehind, acl::kHugeFirst); });
  if (r.ok()) Keep(*block, bytes, false);
  return r;
}

void AscendDriver::Free(int device, void* block) {
  Forget(block);
  (void)Within(device, [&] { return api_.f().aclrtFree(block); });
}

Result AscendDriver::PinnedAlloc(int device, uint64_t bytes, void** block) {
  const Result r = Within(device, [&] { return api_.f().aclrtMallocHost(block, bytes); });
  if (r.ok()) Keep(*block, bytes, true);
  return r;
}

void AscendDriver::PinnedFree(int device, void* block) {
  Forget(block);
  (void)Within(device, [&] { return api_.f().aclrtFreeHost(block); });
}

// ---- streams and events ------------------------------------------------------------------------

Result AscendDriver::StreamCreate(int device, StreamHandle* stream) {
  acl::Stream made = nullptr;
  const Result r = Within(device, [&] { return api_.f().aclrtCreateStream(&made); });
  if (r.ok()) *stream = Handle<StreamHandle>(made);
  return r;
}

void AscendDriver::StreamDestroy(int device, StreamHandle stream) {
  (void)Within(device, [&] { return api_.f().aclrtDestroyStream(Of(stream)); });
}

Result AscendDriver::StreamWait(int device, StreamHandle stream, EventHandle event) {
  return Within(device, [&] { return api_.f().aclrtStreamWaitEvent(Of(stream), Of(event)); });
}

Result AscendDriver::EventCreate(int device, bool timed, EventHandle* event) {
  const acl::Functions& f = api_.f();
  acl::Event made = nullptr;
  const Result r = Within(device, [&] {
    return f.aclrtCreateEventExWithFlag(
        &made, timed ? acl::kEventTimeLine | acl::kEventSync : acl::kEventSync);
  });
  if (r.ok()) *event = Handle<EventHandle>(made);
  return r;
}

void AscendDriver::EventDestroy(int device, EventHandle event) {
  (void)Within(device, [&] { return api_.f().aclrtDestroyEvent(Of(event)); });
}

Result AscendDriver::EventRecord(int device, EventHandle event, StreamHandle stream) {
  return Within(device, [&] { return api_.f().aclrtRecordEvent(Of(event), Of(stream)); });
}

Result AscendDriver::EventQuery(int device, EventHandle event) {
  acl::EventStatus status = acl::kEventNotReady;
  const Result r =
      Within(device, [&] { return api_.f().aclrtQueryEventStatus(Of(event), &status); });
  if (r.ok() && status != acl::kEventComplete) return {Outcome::kNotReady, acl::kSuccess};
  return r;
}

Result AscendDriver::EventElapsed(int device, EventHandle from, EventHandle to, int64_t* ns) {
  float ms = 0;  // the vendor's unit
  const Result r =
      Within(device, [&] { return api_.f().aclrtEventElapsedTime(&ms, Of(from), Of(to)); });
  if (r.ok()) *ns = static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  return r;
}

// ---- work --------------------------------------------------------------------------------------

Status AscendDriver::CopyAtOnce(acl::Stream stream, void* to, const void* from, uint64_t bytes,
                                acl::CopyKind kind) const {
  const acl::Functions& f = api_.f();
  acl::Event event = nullptr;
  Status s = f.aclrtCreateEventExWithFlag(&event, acl::kEventSync);
  if (s != acl::kSuccess) return s;
  s = f.aclrtRecordEvent(event, stream);
  const auto begin = std::chrono::steady_clock::now();
  while (s == acl::kSuccess) {
    acl::EventStatus status = acl::kEventNotReady;
    s = f.aclrtQueryEventStatus(event, &status);
    if (s != acl::kSuccess || status == acl::kEventComplete) break;
    if (std::chrono::steady_clock::now() - begin > kLongestWait) s = acl::kDeviceLost;
    std::this_thread::yield();
  }
  (void)f.aclrtDestroyEvent(event);
  return s == acl::kSuccess ? f.aclrtMemcpy(to, bytes, from, bytes, kind) : s;
}

Result AscendDriver::Copy(int device, StreamHandle stream, void* to, const void* from,
                          uint64_t bytes) {
  bool pageable = false;
  acl::CopyKind kind = acl::kDeviceToDevice;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const Block *target = BlockOf(to), *source = BlockOf(from);
    const bool to_device = target != nullptr && !target->pinned,
               from_device = source != nullptr && !source->pinned;
    pageable = target == nullptr || source == nullptr;
    if (!to_device) kind = from_device ? acl::kDeviceToHost : acl::kHostToHost;
    if (to_device && !from_device) kind = acl::kHostToDevice;
  }
  return Within(device, [&] {
    if (pageable) return CopyAtOnce(Of(stream), to, from, bytes, kind);
    return api_.f().aclrtMemcpyAsync(to, bytes, from, bytes, kind, Of(stream));
  });
}

Result AscendDriver::PeerCopy(int device, StreamHandle stream, int, void* to, int, const void* from,
                              uint64_t bytes) {
  return Within(device, [&] {
    return api_.f().aclrtMemcpyAsync(to, bytes, from, bytes, acl::kDeviceToDevice, Of(stream));
  });
}

Result AscendDriver::Fill(int device, StreamHandle stream, void* to, uint8_t value,
                          uint64_t bytes) {
  return Within(device,
                [&] { return api_.f().aclrtMemsetAsync(to, bytes, value, bytes, Of(stream)); });
}

Result AscendDriver::Launch(int, StreamHandle, const device::KernelLaunch&) {
  return ResultOf(acl::kNotSupported);
}
Result AscendDriver::CaptureBegin(int, StreamHandle) { return ResultOf(acl::kNotSupported); }
Result AscendDriver::CaptureEnd(int, StreamHandle, GraphHandle*) {
  return ResultOf(acl::kNotSupported);
}
Result AscendDriver::GraphLaunch(int, GraphHandle, StreamHandle) {
  return ResultOf(acl::kNotSupported);
}
void AscendDriver::GraphDestroy(int, GraphHandle) {}

}  // namespace ge_engines::ascend
