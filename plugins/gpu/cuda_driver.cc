#include "plugins/gpu/cuda_driver.h"

#include <cctype>
#include <cstring>

#include "plugins/gpu/cublaslt_library.h"
#include "plugins/gpu/cudnn_library.h"
#include "plugins/gpu/kernels/image.h"
#include "plugins/gpu/kernels/kernel_ids.h"

namespace ge_engines::gpu {
namespace {

using cuda::Status;

cuda::Stream Of(StreamHandle stream) { return reinterpret_cast<cuda::Stream>(stream); }
cuda::Event Of(EventHandle event) { return reinterpret_cast<cuda::Event>(event); }
cuda::GraphExec Of(GraphHandle graph) { return reinterpret_cast<cuda::GraphExec>(graph); }
cuda::DevicePtr At(const void* address) { return reinterpret_cast<cuda::DevicePtr>(address); }

Outcome OutcomeOf(Status status) {
  switch (status) {
    case cuda::kSuccess:
      return Outcome::kOk;
    case cuda::kNotReady:
      return Outcome::kNotReady;
    case cuda::kOutOfMemory:
      return Outcome::kOutOfMemory;
    case cuda::kNotSupported:
    case cuda::kNoDevice:
    case cuda::kPeerAccessUnsupported:
    case cuda::kNoBinaryForDevice:
    case cuda::kUnsupportedPtxVersion:
    case cuda::kNoJitCompiler:
      return Outcome::kUnsupported;
    // The context takes no more work; a new one would.
    case cuda::kIllegalAddress:
    case cuda::kLaunchTimeout:
    case cuda::kContextIsDestroyed:
    case cuda::kAssert:
    case cuda::kHardwareStackError:
    case cuda::kIllegalInstruction:
    case cuda::kMisalignedAddress:
    case cuda::kInvalidAddressSpace:
    case cuda::kInvalidPc:
    case cuda::kLaunchFailed:
    case cuda::kContained:
      return Outcome::kFailed;
    // The device, or the way to it, is broken or gone.
    case cuda::kDeinitialized:
    case cuda::kDeviceUnavailable:
    case cuda::kEccUncorrectable:
    case cuda::kLinkUncorrectable:
    case cuda::kSystemNotReady:
    case cuda::kExternalDevice:
    case cuda::kUnknown:
      return Outcome::kLost;
    default:
      return Outcome::kInvalid;
  }
}

// The first word of a device's name with a digit in it, in small letters: "h100" of "NVIDIA H100
// 80GB HBM3"; "gpu" where no word has one.
std::string ShortName(const char* name) {
  std::string word;
  for (const char* c = name;; ++c) {
    if (*c != 0 && std::isalnum(static_cast<unsigned char>(*c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
      continue;
    }
    if (word.find_first_of("0123456789") != std::string::npos) return word;
    word.clear();
    if (*c == 0) return "gpu";
  }
}

}  // namespace

CudaDriver::Current::Current(const CudaDriver& driver, int device)
    : driver_(driver),
      status_(driver.f_.cuCtxPushCurrent_v2(driver.devices_[static_cast<size_t>(device)].context)) {
}

CudaDriver::Current::~Current() {
  cuda::Context before = nullptr;
  if (status_ == cuda::kSuccess) (void)driver_.f_.cuCtxPopCurrent_v2(&before);
}

Result CudaDriver::ResultOf(Status status) {
  return {OutcomeOf(status), static_cast<int32_t>(status)};
}

std::string CudaDriver::ErrorText(Result result) {
  switch (result.vendor_code) {
    case kNoLibrary:
      return "there is no driver: " + library_.why();
    case kNoSymbol:
      return "the driver is too old: " + library_.why() + "; wanted one of CUDA 13.0 or later";
    case kOldDriver:
      return "the driver is one of CUDA " + std::to_string(version_ / 1000) + "." +
             std::to_string(version_ % 1000 / 10) + "; wanted 13.0 or later";
    case kNoKernels:
      return "it was built without kernels, for want of a compiler for them; "
             "tools/setup/install.sh gpu brings one";
    case cuda::kNoDevice:
      return "the driver finds no device";
    default:
      break;
  }
  if (IsCudnnStatus(result.vendor_code)) return CudnnErrorText(result.vendor_code);
  if (IsCublasLtStatus(result.vendor_code)) return CublasLtErrorText(result.vendor_code);
  const char *name = nullptr, *text = nullptr;
  const auto status = static_cast<Status>(result.vendor_code);
  if (f_.cuGetErrorName == nullptr || f_.cuGetErrorName(status, &name) != cuda::kSuccess ||
      f_.cuGetErrorString(status, &text) != cuda::kSuccess || name == nullptr || text == nullptr) {
    return "the driver answers " + std::to_string(result.vendor_code);
  }
  return std::string(text) + " (" + name + ")";
}

// ---- devices -----------------------------------------------------------------------------------

Result CudaDriver::OpenLibrary() {
  if (!library_.Open("libcuda.so.1")) return {Outcome::kUnsupported, kNoLibrary};
  if (!library_.Set(&f_.cuDriverGetVersion, "cuDriverGetVersion")) {
    return {Outcome::kUnsupported, kNoSymbol};
  }
  // Before cuInit and the other symbols: of an old driver the version is the better answer.
  if (const Status s = f_.cuDriverGetVersion(&version_); s != cuda::kSuccess) return ResultOf(s);
  if (version_ < cuda::kLeastDriver) return {Outcome::kUnsupported, kOldDriver};
#define GE_CUDA_FIND(name, ...) \
  if (!library_.Set(&f_.name, #name)) return {Outcome::kUnsupported, kNoSymbol};
  GE_CUDA_FUNCTIONS(GE_CUDA_FIND)
#undef GE_CUDA_FIND
  simulated_ = library_.Has("ge_simulated_device");
  // Before cuInit, which takes longer than all of a session's start.
  if (!HasKernels() && !simulated_) return {Outcome::kUnsupported, kNoKernels};
  return ResultOf(f_.cuInit(0));
}

Result CudaDriver::Count(int* devices) {
  if (const Result r = OpenLibrary(); !r.ok()) return r;
  int count = 0;
  if (const Status s = f_.cuDeviceGetCount(&count); s != cuda::kSuccess) return ResultOf(s);
  if (count == 0) return ResultOf(cuda::kNoDevice);
  devices_.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const Status s = f_.cuDeviceGet(&devices_[static_cast<size_t>(i)].handle, i);
    if (s != cuda::kSuccess) return ResultOf(s);
  }
  *devices = count;
  return Result();
}

Result CudaDriver::Describe(int device, device::DeviceFacts* facts) {
  const cuda::Device handle = devices_[static_cast<size_t>(device)].handle;
  char name[256] = {};
  cuda::Uuid uuid = {};
  size_t bytes = 0;
  Status s = f_.cuDeviceGetName(name, sizeof name - 1, handle);
  if (s == cuda::kSuccess) s = f_.cuDeviceGetUuid_v2(&uuid, handle);
  if (s == cuda::kSuccess) s = f_.cuDeviceTotalMem_v2(&bytes, handle);
  if (s != cuda::kSuccess) return ResultOf(s);
  facts->name = (simulated_ ? "sim" : ShortName(name)) + ":" + std::to_string(device);
  std::memcpy(facts->uuid, uuid.bytes, sizeof facts->uuid);
  facts->memory_bytes = bytes;
  facts->most_streams = 8;
  return Result();
}

DeviceSpeed CudaDriver::SpeedOf(int device) const {
  const cuda::Device handle = devices_[static_cast<size_t>(device)].handle;
  const auto get = [&](cuda::Attribute attribute, int otherwise) {
    int value = 0;
    const Status s = f_.cuDeviceGetAttribute(&value, attribute, handle);
    return s == cuda::kSuccess && value > 0 ? value : otherwise;
  };
  DeviceSpeed speed;
  speed.processors = get(cuda::kProcessors, 1);
  speed.major = get(cuda::kCapabilityMajor, 0);
  speed.minor = get(cuda::kCapabilityMinor, 0);
  speed.clock_ghz = get(cuda::kClockRate, 1000000) / 1e6;
  // Both edges of the clock carry data.
  speed.memory_bytes_per_ns =
      2.0 * get(cuda::kMemoryClockRate, 1000000) / 1e6 * get(cuda::kMemoryBusWidth, 256) / 8;
  return speed;
}

Result CudaDriver::LoadKernels(Opened* opened) {
  if (const Status s = f_.cuModuleLoadData(&opened->module, KernelImage()); s != cuda::kSuccess) {
    return ResultOf(s);
  }
  opened->kernels.resize(kKernelCount);
  for (uint32_t k = 0; k < kKernelCount; ++k) {
    const Status s = f_.cuModuleGetFunction(&opened->kernels[k], opened->module, kKernelNames[k]);
    if (s != cuda::kSuccess) return ResultOf(s);
  }
  return Result();
}

Result CudaDriver::Open(int device) {
  Opened& opened = devices_[static_cast<size_t>(device)];
  const Status s = f_.cuDevicePrimaryCtxRetain(&opened.context, opened.handle);
  if (s != cuda::kSuccess) return ResultOf(s);
  const Result result = Within(device, [&] { return LoadKernels(&opened); });
  if (!result.ok()) Close(device);
  return result;
}

void CudaDriver::Close(int device) {
  Opened& opened = devices_[static_cast<size_t>(device)];
  if (opened.context == nullptr) return;
  (void)Within(device, [&] {
    (void)f_.cuCtxSynchronize();
    if (opened.module != nullptr) (void)f_.cuModuleUnload(opened.module);
    return Result();
  });
  (void)f_.cuDevicePrimaryCtxRelease_v2(opened.handle);
  opened.context = nullptr;
  opened.module = nullptr;
}

Result CudaDriver::OpenPeer(int device, int other) {
  const Opened &one = devices_[static_cast<size_t>(device)],
               &two = devices_[static_cast<size_t>(other)];
  int can = 0;
  const Status s = f_.cuDeviceCanAccessPeer(&can, one.handle, two.handle);
  if (s != cuda::kSuccess) return ResultOf(s);
  if (can == 0) return Result();  // a peer copy goes through the host by itself
  return Do(device, [&] {
    const Status enabled = f_.cuCtxEnablePeerAccess(two.context, 0);
    return enabled == cuda::kPeerAccessAlreadyEnabled ? cuda::kSuccess : enabled;
  });
}

// ---- memory ------------------------------------------------------------------------------------

Result CudaDriver::Alloc(int device, uint64_t bytes, void** block) {
  cuda::DevicePtr made = 0;
  const Result result = Do(device, [&] { return f_.cuMemAlloc_v2(&made, bytes); });
  if (result.ok()) *block = reinterpret_cast<void*>(made);
  return result;
}

void CudaDriver::Free(int device, void* block) {
  (void)Do(device, [&] { return f_.cuMemFree_v2(At(block)); });
}

Result CudaDriver::PinnedAlloc(int device, uint64_t bytes, void** block) {
  void* made = nullptr;
  const Result result =
      Do(device, [&] { return f_.cuMemHostAlloc(&made, bytes, cuda::kHostAllocPortable); });
  if (result.ok()) *block = made;
  return result;
}

void CudaDriver::PinnedFree(int device, void* block) {
  (void)Do(device, [&] { return f_.cuMemFreeHost(block); });
}

// ---- streams and events ------------------------------------------------------------------------

Result CudaDriver::StreamCreate(int device, StreamHandle* stream) {
  cuda::Stream made = nullptr;
  const Result result =
      Do(device, [&] { return f_.cuStreamCreate(&made, cuda::kStreamNonBlocking); });
  if (result.ok()) *stream = static_cast<StreamHandle>(reinterpret_cast<uintptr_t>(made));
  return result;
}

void CudaDriver::StreamDestroy(int device, StreamHandle stream) {
  (void)Do(device, [&] { return f_.cuStreamDestroy_v2(Of(stream)); });
}

Result CudaDriver::StreamWait(int device, StreamHandle stream, EventHandle event) {
  return Do(device, [&] { return f_.cuStreamWaitEvent(Of(stream), Of(event), 0); });
}

Result CudaDriver::EventCreate(int device, bool timed, EventHandle* event) {
  cuda::Event made = nullptr;
  const Result result =
      Do(device, [&] { return f_.cuEventCreate(&made, timed ? 0 : cuda::kEventDisableTiming); });
  if (result.ok()) *event = static_cast<EventHandle>(reinterpret_cast<uintptr_t>(made));
  return result;
}

void CudaDriver::EventDestroy(int device, EventHandle event) {
  (void)Do(device, [&] { return f_.cuEventDestroy_v2(Of(event)); });
}

Result CudaDriver::EventRecord(int device, EventHandle event, StreamHandle stream) {
  return Do(device, [&] { return f_.cuEventRecord(Of(event), Of(stream)); });
}

Result CudaDriver::EventQuery(int device, EventHandle event) {
  return Do(device, [&] { return f_.cuEventQuery(Of(event)); });
}

Result CudaDriver::EventElapsed(int device, EventHandle from, EventHandle to, int64_t* ns) {
  float ms = 0;  // the vendor's unit; its step is half a microsecond
  const Result result = Do(device, [&] { return f_.cuEventElapsedTime_v2(&ms, Of(from), Of(to)); });
  if (result.ok()) *ns = static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  return result;
}

// ---- work --------------------------------------------------------------------------------------

Result CudaDriver::Copy(int device, StreamHandle stream, void* to, const void* from,
                        uint64_t bytes) {
  return Do(device, [&] { return f_.cuMemcpyAsync(At(to), At(from), bytes, Of(stream)); });
}

Result CudaDriver::PeerCopy(int device, StreamHandle stream, int to_device, void* to,
                            int from_device, const void* from, uint64_t bytes) {
  const auto context = [&](int of) { return devices_[static_cast<size_t>(of)].context; };
  return Do(device, [&] {
    return f_.cuMemcpyPeerAsync(At(to), context(to_device), At(from), context(from_device), bytes,
                                Of(stream));
  });
}

Result CudaDriver::Fill(int device, StreamHandle stream, void* to, uint8_t value, uint64_t bytes) {
  return Do(device, [&] { return f_.cuMemsetD8Async(At(to), value, bytes, Of(stream)); });
}

Result CudaDriver::Launch(int device, StreamHandle stream, const device::KernelLaunch& launch) {
  const auto kernel = static_cast<size_t>(reinterpret_cast<uintptr_t>(launch.function));
  const Opened& opened = devices_[static_cast<size_t>(device)];
  if (kernel >= opened.kernels.size()) return ResultOf(cuda::kInvalidValue);
  return Do(device, [&] {
    return f_.cuLaunchKernel(opened.kernels[kernel], launch.grid[0], launch.grid[1], launch.grid[2],
                             launch.block[0], launch.block[1], launch.block[2], launch.shared_bytes,
                             Of(stream), const_cast<void**>(launch.argument), nullptr);
  });
}

// ---- captures ----------------------------------------------------------------------------------

Result CudaDriver::CaptureBegin(int device, StreamHandle origin) {
  // Other threads' calls stay free.
  return Do(device,
            [&] { return f_.cuStreamBeginCapture_v2(Of(origin), cuda::kCaptureThreadLocal); });
}

Result CudaDriver::CaptureEnd(int device, StreamHandle origin, GraphHandle* graph) {
  cuda::Graph made = nullptr;
  cuda::GraphExec exec = nullptr;
  const Result result = Do(device, [&] {
    Status s = f_.cuStreamEndCapture(Of(origin), &made);
    if (s == cuda::kSuccess && made == nullptr) return cuda::kCaptureInvalidated;
    if (s == cuda::kSuccess) s = f_.cuGraphInstantiateWithFlags(&exec, made, 0);
    if (made != nullptr) (void)f_.cuGraphDestroy(made);
    return s;
  });
  if (result.ok()) *graph = static_cast<GraphHandle>(reinterpret_cast<uintptr_t>(exec));
  return result;
}

Result CudaDriver::GraphLaunch(int device, GraphHandle graph, StreamHandle stream) {
  return Do(device, [&] { return f_.cuGraphLaunch(Of(graph), Of(stream)); });
}

void CudaDriver::GraphDestroy(int device, GraphHandle graph) {
  (void)Do(device, [&] { return f_.cuGraphExecDestroy(Of(graph)); });
}

}  // namespace ge_engines::gpu
