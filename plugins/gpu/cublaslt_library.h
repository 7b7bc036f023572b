// CublasLtLibrary: cuBLASLt, opened at the first question about it, and one handle a device, made
// when the first product for that device is. Without the library, or a function of it, why() says
// so in a sentence, the log has it at level 2, and products stay with our own kernel. Any thread
// may call.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "plugins/device/library.h"
#include "plugins/gpu/cuda_driver.h"
#include "plugins/gpu/vendor/cublaslt.h"

struct ge_host_api;

namespace ge_engines::gpu {

class CublasLtLibrary {
 public:
  // `driver` and `host` outlive it. `folder`: where the library lies; empty: where the linker
  // looks.
  CublasLtLibrary(const CudaDriver& driver, const ge_host_api* host, std::string folder)
      : driver_(driver), host_(host), folder_(std::move(folder)) {}
  ~CublasLtLibrary() { Close(); }
  CublasLtLibrary(const CublasLtLibrary&) = delete;

  // Whether it is there and whole.
  bool Ready() const;
  const std::string& why() const { return why_; }  // it is not
  // Ends the handles; before the devices are closed.
  void Close();

  // ---- for products; it is ready
  const cublaslt::Functions& f() const { return f_; }
  const DeviceSpeed& speed() const { return speed_; }  // of the machine's first device
  // With a device's context current and its handle to itself: nothing says that threads may share
  // one. use(handle) answers a Status.
  template <class Use>
  Result WithHandle(int device, const Use& use) const {
    OneDevice& one = DeviceOf(device);
    const std::lock_guard<std::mutex> lock(one.mutex);
    return driver_.Within(device, [&] {
      cublaslt::Status status = cublaslt::kSuccess;
      if (one.handle == nullptr) status = f_.cublasLtCreate(&one.handle);
      return ResultOf(status == cublaslt::kSuccess ? use(one.handle) : status);
    });
  }
  // Writes a line of the log, at level 2.
  void Say(const std::string& text) const;

  static Result ResultOf(cublaslt::Status status);

 private:
  struct OneDevice {
    std::mutex mutex;
    cublaslt::Handle handle = nullptr;
  };
  bool Open() const;
  OneDevice& DeviceOf(int device) const;

  const CudaDriver& driver_;
  const ge_host_api* host_;
  const std::string folder_;
  mutable std::mutex mutex_;  // of what follows
  mutable bool asked_ = false, ready_ = false;
  mutable Library library_;
  mutable cublaslt::Functions f_;
  mutable std::string why_;
  mutable DeviceSpeed speed_;
  mutable std::map<int, OneDevice> devices_;
};

// Of a status of cuBLASLt's as a Result's vendor code; they lie below those of the driver.
bool IsCublasLtStatus(int32_t vendor_code);
std::string CublasLtErrorText(int32_t vendor_code);

}  // namespace ge_engines::gpu
