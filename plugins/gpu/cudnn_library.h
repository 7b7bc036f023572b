// CudnnLibrary: cuDNN, opened at the first question about it, and one handle a device, made when
// the first graph for that device is. Without the library, or a function of it, why() says so in a
// sentence and convolutions stay with what else there is. Any thread may call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "ge/ge_plugin.h"
#include "plugins/device/library.h"
#include "plugins/gpu/cuda_driver.h"
#include "plugins/gpu/vendor/cudnn.h"

namespace ge_engines::gpu {

// A call that failed, with the library's own words; for compile, whose host shows the text.
struct CudnnRefusal : std::runtime_error {
  explicit CudnnRefusal(const std::string& text, cudnn::Status given = cudnn::kNotSupported)
      : std::runtime_error(text), status(given) {}
  cudnn::Status status;
};

// A device's handle, which serves one thread at a time.
struct CudnnDevice {
  std::mutex mutex;
  cudnn::Handle handle = nullptr;
  int number = 0;  // the driver's
};

class CudnnLibrary {
 public:
  // `driver` and `host` outlive it. `folder`: where the library lies; empty: where the linker
  // looks.
  CudnnLibrary(const CudaDriver& driver, const ge_host_api* host, std::string folder)
      : driver_(driver), host_(host), folder_(std::move(folder)) {}
  ~CudnnLibrary() { Close(); }
  CudnnLibrary(const CudnnLibrary&) = delete;

  // Whether it is there and whole.
  bool Ready() const;
  const std::string& why() const { return why_; }  // it is not
  // Ends the handles; before the devices are closed.
  void Close();

  // ---- for graphs; it is ready
  const cudnn::Functions& f() const { return f_; }
  const CudaDriver& driver() const { return driver_; }
  // Throws CudnnRefusal where the status is none of success.
  void Check(cudnn::Status status, const char* what) const;
  // Lives until Close. Throws where there is no handle yet and none can be made.
  CudnnDevice& DeviceOf(int number) const;
  // With a device's context current and its handle to itself. use(handle) answers a Result.
  template <class Use>
  Result WithHandle(CudnnDevice& device, const Use& use) const {
    const std::lock_guard<std::mutex> lock(device.mutex);
    return driver_.Within(device.number, [&] { return use(device.handle); });
  }
  static Result ResultOf(cudnn::Status status);

 private:
  bool Open() const;

  const CudaDriver& driver_;
  const ge_host_api* host_;
  const std::string folder_;
  mutable std::mutex mutex_;  // of what follows
  mutable bool asked_ = false, ready_ = false;
  mutable Library library_;
  mutable cudnn::Functions f_;
  mutable std::string why_;
  mutable std::map<int, CudnnDevice> devices_;
};

// Of a status of cuDNN's; they lie beyond those of the driver.
inline bool IsCudnnStatus(int32_t vendor_code) { return vendor_code > cuda::kUnknown; }
std::string CudnnErrorText(int32_t vendor_code);

}  // namespace ge_engines::gpu
