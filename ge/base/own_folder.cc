#include "ge/base/own_folder.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <string>

namespace ge {
namespace {

// The program's file. Where /proc is not mounted, what it was started by: for a name that was found
// through PATH this is the whole path, too.
std::filesystem::path ProgramFile(std::error_code* ec) {
  std::filesystem::path file = std::filesystem::canonical("/proc/self/exe", *ec);
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return *ec && started != nullptr ? std::filesystem::canonical(started, *ec) : file;
}

}  // namespace

std::filesystem::path OwnFile() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&OwnFile), &info) || !info.dli_fname) return {};
  std::error_code ec;
  // A program found through PATH has a bare name, which says nothing about the present folder.
  const std::string name = info.dli_fname;
  const bool bare = name.find('/') == name.npos;
  std::filesystem::path self = bare ? ProgramFile(&ec) : std::filesystem::canonical(name, ec);
  if (ec && !bare) self = ProgramFile(&ec);
  return ec ? std::filesystem::path() : self;
}

std::filesystem::path OwnFolder() { return OwnFile().parent_path(); }

}  // namespace ge
