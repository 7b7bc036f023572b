#include "ge/base/replace_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ge {

Status ReplaceFile(const std::string& path, std::string_view bytes, bool durable) {
  static std::atomic<unsigned> made{0};  // threads of a process may write one file at once
  const std::string temporary = fmt::format("{}.{}.{}.part", path, getpid(), ++made);
  const auto failed = [&] {
    const int why = errno;
    (void)std::remove(temporary.c_str());
    return Status(Code::kIoError, fmt::format("cannot write '{}': {}", path, std::strerror(why)));
  };
  std::FILE* f = std::fopen(temporary.c_str(), "wbe");
  if (!f) return failed();
  bool good = bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  good = good && std::fflush(f) == 0 && (!durable || fsync(fileno(f)) == 0);
  if (!good) {
    const Status status = failed();
    (void)std::fclose(f);
    return status;
  }
  if (std::fclose(f) != 0) return failed();
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return failed();
  return {};
}

}  // namespace ge
