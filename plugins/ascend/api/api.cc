#include "plugins/ascend/api/api.h"

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

Api::State Api::Open() {
  if (!OpenLibrary(kRuntime, &runtime_)) {
    why_ = runtime_.why();
    return State::kNoLibrary;
  }
#define GE_ACL_FIND(name, ...)          \
  if (!runtime_.Set(&f_.name, #name)) { \
    why_ = runtime_.why();              \
    return State::kNoSymbol;            \
  }
  GE_ACL_FUNCTIONS(GE_ACL_FIND)
  GE_ACL_FIND(aclrtGetSocName)
#undef GE_ACL_FIND
#define GE_ACL_FIND(name, ...) (void)runtime_.Set(&f_.name, #name);
  GE_ACL_OPTIONAL_FUNCTIONS(GE_ACL_FIND)
  GE_ACL_FIND(aclGetRecentErrMsg)
#undef GE_ACL_FIND
  simulated_ = runtime_.Has("ge_simulated_device");
  return State::kOpen;
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
    operators_.name = {};                                                       \
  }
#include "plugins/ascend/api/operators.def"
  return true;
}

}  // namespace ge_engines::ascend
