#include "ge/host/shipped.h"

#include <fmt/format.h>

#include <filesystem>

#include "ge/base/log.h"
#include "ge/base/own_folder.h"
#include "ge/base/read_file.h"

namespace ge {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;

std::optional<std::string> ReadShippedFile(const std::string& name) {
  const std::filesystem::path own = OwnFolder();
  if (own.empty()) return std::nullopt;
  auto text = ReadRegularFile((own / ".." / "share" / "graphengine" / name).string(), kMostBytes);
  if (!text.ok()) return std::nullopt;
  return *std::move(text);
}

void WarnOfShipped(const std::string& name, const std::string& how) {
  LogOnce(1, fmt::format("file '{}' of this installation is ignored: {}; install GraphEngine anew",
                         name, how));
}

std::string CpuVendor() {
#if defined(__x86_64__)
  if (__builtin_cpu_is("amd")) return "amd";
  if (__builtin_cpu_is("intel")) return "intel";
#endif
  return "other";
}

}  // namespace ge
