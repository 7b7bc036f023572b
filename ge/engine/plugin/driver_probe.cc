#include "ge/engine/plugin/driver_probe.h"

#include <unistd.h>

#include <cstdlib>

#include "ge/base/read_file.h"

namespace ge {
namespace {

constexpr uint64_t kMostCache = 16 << 20;  // bytes; one of a thousand libraries has 100 KB

bool IsThere(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

bool InFolders(std::string_view folders, const std::string& name) {
  while (!folders.empty()) {
    const size_t end = folders.find_first_of(":;");
    const std::string folder(folders.substr(0, end));
    if (!folder.empty() && IsThere(folder + "/" + name)) return true;
    folders = end == std::string_view::npos ? std::string_view() : folders.substr(end + 1);
  }
  return false;
}

}  // namespace

std::string PathInLinkerCache(std::string_view cache, std::string_view name) {
  const std::string wanted = "/" + std::string(name) + std::string(1, '\0');
  for (size_t at = 0; (at = cache.find(wanted, at)) != std::string_view::npos; ++at) {
    const size_t before = cache.rfind('\0', at);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::string path(cache.substr(begin, at + wanted.size() - 1 - begin));
    if (path.front() == '/') return path;
  }
  return "";
}

bool LibraryIsThere(const std::string& name) {
  if (name.find('/') != std::string::npos) return IsThere(name);
  const char* own = secure_getenv("LD_LIBRARY_PATH");
  if (own != nullptr && InFolders(own, name)) return true;
  const auto cache = ReadRegularFile("/etc/ld.so.cache", kMostCache);
  const std::string path = cache.ok() ? PathInLinkerCache(*cache, name) : "";
  if (!path.empty() && IsThere(path)) return true;
  return InFolders("/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib", name);
}

}  // namespace ge
