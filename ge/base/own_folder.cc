#include "ge/base/own_folder.h"

#include <dlfcn.h>

#include <string>

namespace ge {

std::filesystem::path OwnFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&OwnFolder), &info) || !info.dli_fname) return {};
  std::error_code ec;
  // A program found through PATH has a bare name, which says nothing about the present folder.
  const std::string name = info.dli_fname;
  std::filesystem::path self =
      std::filesystem::canonical(name.find('/') == name.npos ? "/proc/self/exe" : name, ec);
  if (ec) self = std::filesystem::canonical("/proc/self/exe", ec);
  return self.parent_path();
}

}  // namespace ge
