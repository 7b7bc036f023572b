#include "tools/ascend_check/vendor.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <cstring>

namespace ascend_check {

void* Vendor::Open(const std::string& folder, const char* name) {
  const char* home = std::getenv("ASCEND_HOME_PATH");
  std::string tried;
  const auto open = [&](const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
    const char* error = handle == nullptr ? dlerror() : nullptr;
    if (error != nullptr) tried += (tried.empty() ? "" : "; ") + std::string(error);
    return handle;
  };
  void* handle = nullptr;
  if (!folder.empty()) {
    handle = open(folder + "/" + name);
  } else {
    if (home != nullptr && *home != 0) handle = open(std::string(home) + "/lib64/" + name);
    if (handle == nullptr) handle = open(name);
  }
  if (handle == nullptr) {
    why_ =
        std::string("there is no ") + name + ": looked for in " +
        (!folder.empty()                 ? folder
         : home != nullptr && *home != 0 ? std::string(home) + "/lib64, then where the linker looks"
                                         : "the linker's folders; ASCEND_HOME_PATH is not set") +
        " (" + tried + ")";
  }
  return handle;
}

bool Vendor::OpenRuntime(const std::string& folder) {
  runtime_ = Open(folder, kRuntime);
  if (runtime_ == nullptr) return false;
  const auto find = [this](const char* symbol, auto* function) {
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(Find(symbol));
  };
#define CHECK_FIND(name, ...) find(#name, &f_.name);
  GE_ACL_FUNCTIONS(CHECK_FIND)
  GE_ACL_OPTIONAL_FUNCTIONS(CHECK_FIND)
  CHECK_FIND(aclrtGetSocName)
  CHECK_FIND(aclGetRecentErrMsg)
#undef CHECK_FIND
  return true;
}

bool Vendor::OpenOperators(const std::string& folder) {
  objects_ = Open(folder, kObjects);
  if (objects_ == nullptr) return false;
  operators_ = Open(folder, kOperators);
  if (operators_ == nullptr) return false;
  const auto find = [this](const char* symbol, auto* function) {
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(Find(symbol));
  };
#define CHECK_FIND(name) find(#name, &o_.name);
  CHECK_FIND(aclCreateTensor)
  CHECK_FIND(aclDestroyTensor)
  CHECK_FIND(aclCreateScalar)
  CHECK_FIND(aclDestroyScalar)
  CHECK_FIND(aclCreateIntArray)
  CHECK_FIND(aclDestroyIntArray)
  CHECK_FIND(aclCreateTensorList)
  CHECK_FIND(aclDestroyTensorList)
  CHECK_FIND(aclDestroyAclOpExecutor)
#undef CHECK_FIND
#define GE_ACLNN(name, parameters, names)                  \
  find("aclnn" #name "GetWorkspaceSize", &op_.name.first); \
  find("aclnn" #name, &op_.name.second);
#include "plugins/ascend/api/operators.def"
  return true;
}

void* Vendor::Find(const char* symbol) const {
  for (void* library : {runtime_, objects_, operators_}) {
    void* found = library == nullptr ? nullptr : dlsym(library, symbol);
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::string Vendor::FileOf(const char* library) const {
  void* handle = std::strcmp(library, kRuntime) == 0   ? runtime_
                 : std::strcmp(library, kObjects) == 0 ? objects_
                                                       : operators_;
  link_map* map = nullptr;
  if (handle == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return "";
  char real[PATH_MAX];
  return realpath(map->l_name, real) == nullptr ? map->l_name : real;
}

}  // namespace ascend_check
