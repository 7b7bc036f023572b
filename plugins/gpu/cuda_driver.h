// CudaDriver: plugins/device's driver over the CUDA driver interface. It opens libcuda.so.1 at
// Count, which is the making of an engine, and a device's context, kernels and nothing else at
// Open, which is the first compile. Any thread may call; each call makes the device's primary
// context current and puts back what was.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/device/driver.h"
#include "plugins/device/library.h"
#include "plugins/gpu/vendor/cuda.h"

namespace ge_engines::gpu {

using device::EventHandle;
using device::GraphHandle;
using device::Library;
using device::Outcome;
using device::Result;
using device::StreamHandle;

// How fast a device's parts are, by its attributes.
struct DeviceSpeed {
  int processors = 1, major = 0, minor = 0;
  double clock_ghz = 1;
  double memory_bytes_per_ns = 1;
};

class CudaDriver final : public device::Driver {
 public:
  CudaDriver() = default;
  ~CudaDriver() override = default;

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
  // KernelLaunch.function is a KernelId of kernels/kernels.h, as a pointer.
  Result Launch(int device, StreamHandle stream, const device::KernelLaunch& launch) override;
  Result CaptureBegin(int device, StreamHandle origin) override;
  Result CaptureEnd(int device, StreamHandle origin, GraphHandle* graph) override;
  Result GraphLaunch(int device, GraphHandle graph, StreamHandle stream) override;
  void GraphDestroy(int device, GraphHandle graph) override;
  std::string ErrorText(Result result) override;

  // ---- for the engine; the library is open
  DeviceSpeed SpeedOf(int device) const;
  bool simulated() const { return simulated_; }
  // Calls use() with the device's context current.
  template <class Use>
  Result Within(int device, const Use& use) const {
    const Current current(*this, device);
    return current.status() == cuda::kSuccess ? use() : ResultOf(current.status());
  }
  static Result ResultOf(cuda::Status status);

 private:
  // What the driver interface cannot say. They are no status of it.
  enum State : int32_t { kNoLibrary = -1, kNoSymbol = -2, kOldDriver = -3, kNoKernels = -4 };
  struct Opened {
    cuda::Device handle = 0;
    cuda::Context context = nullptr;
    cuda::Module module = nullptr;
    std::vector<cuda::Function> kernels;  // by KernelId
  };
  class Current {
   public:
    Current(const CudaDriver& driver, int device);
    ~Current();
    Current(const Current&) = delete;
    cuda::Status status() const { return status_; }

   private:
    const CudaDriver& driver_;
    cuda::Status status_;
  };
  Result OpenLibrary();
  Result LoadKernels(Opened* opened);
  // A call inside of the device's context.
  template <class Use>
  Result Do(int device, const Use& use) const {
    return Within(device, [&] { return ResultOf(use()); });
  }

  Library library_;
  cuda::Functions f_;
  bool simulated_ = false;
  int version_ = 0;
  std::vector<Opened> devices_;  // by number; sized at Count, and never again
};

}  // namespace ge_engines::gpu
