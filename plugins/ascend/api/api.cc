#include "plugins/ascend/api/api.h"

#include <cctype>
#include <cstdlib>

namespace ge_engines::ascend {
namespace {

constexpr char kRuntime[] = "libascendcl.so";
constexpr std::array<const char*, 2> kOperators = {"libnnopbase.so", "libopapi.so"};

}  // namespace

bool Api::OpenLibrary(const char* name, device::Library* library) const {
  if (!folder_.empty()) return library->Open(folder_ + "/" + name);
  const char* home = std::getenv("ASCEND_HOME_PATH");
  if (home != nullptr && *home != 0 && library->Open(std::string(home) + "/lib64/" + name)) {
    return true;
  }
  return library->Open(name);
}

bool Api::OpenRuntime() {
  if (!OpenLibrary(kRuntime, &runtime_)) {
    why_ = "there is no AscendCL: " + runtime_.why();
    return false;
  }
#define GE_ACL_FIND(name, ...)                                             \
  if (!runtime_.Set(&f_.name, #name)) {                                    \
    why_ = "AscendCL is not one that the engine knows: " + runtime_.why(); \
    return false;                                                          \
  }
  GE_ACL_FUNCTIONS(GE_ACL_FIND)
  GE_ACL_FIND(aclrtGetSocName)
#undef GE_ACL_FIND
#define GE_ACL_FIND(name, ...) (void)runtime_.Set(&f_.name, #name);
  GE_ACL_OPTIONAL_FUNCTIONS(GE_ACL_FIND)
  GE_ACL_FIND(aclGetRecentErrMsg)
#undef GE_ACL_FIND
  return true;
}

bool Api::Start(int* devices) {
  if (!OpenRuntime()) return false;
  const acl::Status s = f_.aclInit(nullptr);
  if (s != acl::kSuccess && s != acl::kRepeatInitialize) {
    why_ = "AscendCL could not be initialized: it answers " + std::to_string(s);
    return false;
  }
  uint32_t count = 0;
  if (const acl::Status c = f_.aclrtGetDeviceCount(&count); c != acl::kSuccess || count == 0) {
    why_ = "AscendCL finds no device";
    if (c != acl::kSuccess) why_ += ": it answers " + std::to_string(c);
    return false;
  }
  const char* chip = f_.aclrtGetSocName();
  name_ = chip == nullptr ? "" : chip;
  facts_ = ChipOf(name_);
  simulated_ = runtime_.Has("ge_simulated_device");
  if (simulated_ || name_.empty()) name_ = "sim";
  for (char& c : name_) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  *devices = static_cast<int>(count);
  return true;
}

bool Api::Ready() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!asked_) {
    asked_ = true;
    ready_ = OpenOperators();
  }
  return ready_;
}

template <class F>
bool Api::FindObject(const char* symbol, bool optional, F* function) const {
  // Newer releases have moved some between their libraries.
  for (device::Library& library : libraries_) {
    if (library.Has(symbol)) return library.Set(function, symbol);
  }
  why_ = std::string(kOperators[0]) + " and " + kOperators[1] + " have no " + symbol;
  return optional;
}

bool Api::OpenOperators() const {
  for (size_t k = 0; k < kOperators.size(); ++k) {
    if (OpenLibrary(kOperators[k], &libraries_[k])) continue;
    why_ = libraries_[k].why();
    return false;
  }
  const auto find = [this](const char* symbol, bool optional, auto* function) {
    return FindObject(symbol, optional, function);
  };
#define GE_ACL_FIND(name, optional) find(#name, optional, &objects_.name)
  const bool all =
      GE_ACL_FIND(aclCreateTensor, false) && GE_ACL_FIND(aclDestroyTensor, false) &&
      GE_ACL_FIND(aclCreateScalar, false) && GE_ACL_FIND(aclDestroyScalar, false) &&
      GE_ACL_FIND(aclCreateIntArray, false) && GE_ACL_FIND(aclDestroyIntArray, false) &&
      GE_ACL_FIND(aclCreateTensorList, false) && GE_ACL_FIND(aclDestroyTensorList, false) &&
      GE_ACL_FIND(aclDestroyAclOpExecutor, true);
#undef GE_ACL_FIND
  if (!all) return false;
  device::Library& library = libraries_[1];
#define GE_ACLNN(name, parameters, names)                                       \
  if (!library.Set(&operators_.name.first, "aclnn" #name "GetWorkspaceSize") || \
      !library.Set(&operators_.name.second, "aclnn" #name)) {                   \
    operators_.name = {#name};                                                  \
  }
#include "plugins/ascend/api/operators.def"
  return true;
}

Current::Current(const acl::Functions& f, acl::Context context) : f_(f) {
  // Without a context of the thread's the question fails.
  if (f_.aclrtGetCurrentContext(&before_) != acl::kSuccess) before_ = nullptr;
  status_ = before_ == context ? acl::kSuccess : f_.aclrtSetCurrentContext(context);
  if (before_ == context) before_ = nullptr;
}

Current::~Current() {
  if (before_ != nullptr) (void)f_.aclrtSetCurrentContext(before_);
}

}  // namespace ge_engines::ascend
