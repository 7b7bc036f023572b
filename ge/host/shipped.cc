#include "ge/host/shipped.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "ge/base/own_folder.h"

namespace ge {

std::optional<std::string> ReadShippedFile(const std::string& name) {
  const std::filesystem::path own = OwnFolder();
  if (own.empty()) return std::nullopt;
  std::ifstream in(own / ".." / "share" / "graphengine" / name, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string CpuVendor() {
#if defined(__x86_64__)
  if (__builtin_cpu_is("amd")) return "amd";
  if (__builtin_cpu_is("intel")) return "intel";
#endif
  return "other";
}

}  // namespace ge
