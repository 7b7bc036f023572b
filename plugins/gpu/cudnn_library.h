// CudnnLibrary: cuDNN, opened at the first question about it, and one handle a device, made when
// the first graph for that device is. Without the library, or a function of it, why() says so in a
// sentence and convolutions stay with what else there is. Any thread may call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "plugins/gpu/cuda_driver.h"
#include "plugins/gpu/vendor/cudnn.h"
#include "plugins/gpu/vendor/library.h"

namespace ge_engines::gpu {

// A call that failed, with the library's own words; for compile, whose host shows the text.
struct CudnnRefusal : std::runtime_error {
  explicit CudnnRefusal(const std::string& text, cudnn::Status given = cudnn::kNotSupported)
      : std::runtime_error(text), status(given) {}
  cudnn::Status status;
};

class CudnnLibrary {
 public:
  // `driver` outlives it.
  explicit CudnnLibrary(const CudaDriver& driver) : driver_(driver) {}
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
  // With a device's context current and its handle to itself: a handle serves one thread at a time.
  // use(handle) answers a Result. Throws where there is no handle yet and none can be made.
  template <class Use>
  Result WithHandle(int device, const Use& use) const {
    OneDevice& one = HandleOf(device);
    const std::lock_guard<std::mutex> lock(one.mutex);
    return driver_.Within(device, [&] { return use(one.handle); });
  }
  static Result ResultOf(cudnn::Status status);

 private:
  struct OneDevice {
    std::mutex mutex;
    cudnn::Handle handle = nullptr;
  };
  bool Open() const;
  OneDevice& HandleOf(int device) const;

  const CudaDriver& driver_;
  mutable std::mutex mutex_;  // of what follows
  mutable bool asked_ = false, ready_ = false;
  mutable Library library_;
  mutable cudnn::Functions f_;
  mutable std::string why_;
  mutable std::map<int, OneDevice> devices_;
};

// Of a status of cuDNN's; they lie beyond those of the driver.
inline bool IsCudnnStatus(int32_t vendor_code) { return vendor_code > cuda::kUnknown; }
std::string CudnnErrorText(int32_t vendor_code);

}  // namespace ge_engines::gpu
