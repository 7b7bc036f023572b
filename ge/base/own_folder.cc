#include "ge/base/own_folder.h"

#include <dlfcn.h>

#include <string>

namespace ge {

std::filesystem::path OwnFile() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&OwnFile), &info) || !info.dli_fname) return {};
  std::error_code ec;
  // A program found through PATH has a bare name, which says nothing about the present folder.
  const std::string name = info.dli_fname;
  std::filesystem::path self =
      std::filesystem::canonical(name.find('/') == name.npos ? "/proc/self/exe" : name, ec);
  if (ec) self = std::filesystem::canonical("/proc/self/exe", ec);
  return ec ? std::filesystem::path() : self;
}

std::filesystem::path OwnFolder() { return OwnFile().parent_path(); }

}  // namespace ge
