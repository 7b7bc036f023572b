#include "plugins/gpu/cublaslt_library.h"

#include "ge/ge_plugin.hpp"

namespace ge_engines::gpu {
namespace {

constexpr int32_t kLibraryCodes = -1000;  // of status 0, which is no failure

Outcome OutcomeOfLibrary(cublaslt::Status status) {
  switch (status) {
    case cublaslt::kSuccess:
      return Outcome::kOk;
    case cublaslt::kAllocFailed:
      return Outcome::kOutOfMemory;
    case cublaslt::kNotInitialized:
    case cublaslt::kArchMismatch:
    case cublaslt::kNotSupported:
    case cublaslt::kLicenseError:
      return Outcome::kUnsupported;
    case cublaslt::kInvalidValue:
      return Outcome::kInvalid;
    // Work on the device failed, or nobody can say of it.
    default:
      return Outcome::kFailed;
  }
}

}  // namespace

bool CublasLtLibrary::Ready() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (asked_) return ready_;
  asked_ = true;
  ready_ = Open();
  if (!ready_) Say(why_ + "; matrix products stay with the engine's own kernel");
  return ready_;
}

bool CublasLtLibrary::Open() const {
  const std::string name = (folder_.empty() ? "" : folder_ + "/") + cublaslt::kLibrary;
  if (!library_.Open(name)) {
    why_ = "there is no cuBLASLt: " + library_.why();
    return false;
  }
#define GE_CUBLASLT_FIND(name, ...)                                      \
  if (!library_.Set(&f_.name, #name)) {                                  \
    why_ = "cuBLASLt lacks what that of CUDA 13 has: " + library_.why(); \
    return false;                                                        \
  }
  GE_CUBLASLT_FUNCTIONS(GE_CUBLASLT_FIND)
#undef GE_CUBLASLT_FIND
  speed_ = driver_.SpeedOf(0);
  return true;
}

CublasLtLibrary::OneDevice& CublasLtLibrary::DeviceOf(int device) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_[device];
}

void CublasLtLibrary::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [device, one] : devices_) {
    if (one.handle == nullptr) continue;
    (void)driver_.Within(device,
                         [&, handle = one.handle] { return ResultOf(f_.cublasLtDestroy(handle)); });
  }
  devices_.clear();
}

void CublasLtLibrary::Say(const std::string& text) const {
  if (host_ == nullptr || host_->log == nullptr) return;
  host_->log(host_->host, 2, ge::plugin::Str("gpu: " + text));
}

Result CublasLtLibrary::ResultOf(cublaslt::Status status) {
  if (status == cublaslt::kSuccess) return Result();
  return {OutcomeOfLibrary(status), kLibraryCodes - static_cast<int32_t>(status)};
}

bool IsCublasLtStatus(int32_t vendor_code) { return vendor_code < kLibraryCodes; }

std::string CublasLtErrorText(int32_t vendor_code) {
  static constexpr struct {
    cublaslt::Status status;
    const char* text;
  } kTexts[] = {
      {cublaslt::kNotInitialized, "it is not initialized"},
      {cublaslt::kAllocFailed, "it has no memory"},
      {cublaslt::kInvalidValue, "a parameter is wrong"},
      {cublaslt::kArchMismatch, "the device lacks what the call needs"},
      {cublaslt::kMappingError, "it cannot reach the device's memory"},
      {cublaslt::kExecutionFailed, "its work on the device failed"},
      {cublaslt::kInternalError, "it failed inside"},
      {cublaslt::kNotSupported, "it does not support the call"},
      {cublaslt::kLicenseError, "its license does not permit the call"},
  };
  const int32_t status = kLibraryCodes - vendor_code;
  const char* text = "for an unknown reason";
  for (const auto& known : kTexts) {
    if (known.status == status) text = known.text;
  }
  return "cuBLASLt answers " + std::to_string(status) + ": " + text;
}

}  // namespace ge_engines::gpu
