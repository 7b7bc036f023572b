#include "plugins/gpu/cudnn_library.h"

#include "ge/ge_plugin.hpp"

namespace ge_engines::gpu {

bool CudnnLibrary::Ready() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (asked_) return ready_;
  asked_ = true;
  ready_ = Open();
  if (!ready_ && host_ != nullptr && host_->log != nullptr) {
    const std::string said = "gpu: " + why_ + "; convolutions stay with the engine's own kernel";
    host_->log(host_->host, 2, ge::plugin::Str(said));
  }
  return ready_;
}

bool CudnnLibrary::Open() const {
  const std::string name = (folder_.empty() ? "" : folder_ + "/") + cudnn::kLibrary;
  if (!library_.Open(name)) {
    why_ = "there is no cuDNN: " + library_.why();
    return false;
  }
#define GE_CUDNN_FIND(result, name, ...) \
  if (!library_.Set(&f_.name, #name))    \
    return why_ = "cuDNN lacks what 9.0 has: " + library_.why(), false;
  GE_CUDNN_FUNCTIONS(GE_CUDNN_FIND)
#undef GE_CUDNN_FIND
  const size_t version = f_.cudnnGetVersion();
  if (version / cudnn::kMajorUnit == cudnn::kMajor) return true;
  why_ = "cuDNN's version is " + std::to_string(version) + "; wanted one of 9";
  return false;
}

void CudnnLibrary::Check(cudnn::Status status, const char* what) const {
  if (status == cudnn::kSuccess) return;
  char said[512] = {};
  f_.cudnnGetLastErrorString(said, sizeof said);
  const char* name = f_.cudnnGetErrorString(status);
  throw CudnnRefusal("cuDNN: " + std::string(what) + " answers " + (name == nullptr ? "" : name) +
                         " (" + std::to_string(status) + ")" + (said[0] != 0 ? ": " : "") + said,
                     status);
}

CudnnDevice& CudnnLibrary::DeviceOf(int number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  CudnnDevice& one = devices_[number];
  if (one.handle != nullptr) return one;
  one.number = number;
  cudnn::Status status = cudnn::kSuccess;
  const Result result = driver_.Within(number, [&] {
    status = f_.cudnnCreate(&one.handle);
    return Result();
  });
  if (!result.ok()) throw CudnnRefusal("cuDNN: the device's context cannot be made current");
  if (status != cudnn::kSuccess) one.handle = nullptr;
  Check(status, "cudnnCreate");
  return one;
}

void CudnnLibrary::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [number, one] : devices_) {
    if (one.handle == nullptr) continue;
    (void)driver_.Within(number,
                         [&, handle = one.handle] { return ResultOf(f_.cudnnDestroy(handle)); });
  }
  devices_.clear();
}

Result CudnnLibrary::ResultOf(cudnn::Status status) {
  const auto result = [&](Outcome outcome) {
    return Result{outcome, static_cast<int32_t>(status)};
  };
  if (status == cudnn::kSuccess) return Result();
  if (status == cudnn::kDeviceAllocationFailed) return result(Outcome::kOutOfMemory);
  if (status >= cudnn::kExecutionFailed) return result(Outcome::kFailed);
  if (status >= cudnn::kInternalError) return result(Outcome::kInvalid);
  return result(status >= cudnn::kNotSupported ? Outcome::kUnsupported : Outcome::kInvalid);
}

std::string CudnnErrorText(int32_t vendor_code) {
  const char* kind = vendor_code >= cudnn::kExecutionFailed ? "its work on the device failed"
                     : vendor_code >= cudnn::kInternalError ? "it failed inside"
                     : vendor_code >= cudnn::kNotSupported  ? "it does not support the call"
                     : vendor_code >= cudnn::kBadParam      ? "a parameter is wrong"
                                                            : "it is not ready";
  return "cuDNN answers " + std::to_string(vendor_code) + ": " + kind;
}

}  // namespace ge_engines::gpu
